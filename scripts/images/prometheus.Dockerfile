# Debian's Prometheus. Arguments are options of prometheus.
ARG BASE=debian:bookworm-slim
FROM ${BASE}
RUN export DEBIAN_FRONTEND=noninteractive && mkdir -p /usr/share/man/man1 && apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends prometheus \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /usr/share/doc/* /usr/share/man/* \
    && install -d -o nobody /prometheus
USER nobody
WORKDIR /prometheus
EXPOSE 9090
ENTRYPOINT ["prometheus"]
CMD ["--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus"]
