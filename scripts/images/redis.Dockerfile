# Debian's Redis. Arguments are options of redis-server.
ARG BASE=debian:bookworm-slim
FROM ${BASE}
RUN export DEBIAN_FRONTEND=noninteractive && mkdir -p /usr/share/man/man1 && apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends redis-server \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /usr/share/doc/* /usr/share/man/* \
    && install -d -o redis -g redis /data
USER redis
WORKDIR /data
EXPOSE 6379
ENTRYPOINT ["redis-server", "--protected-mode", "no"]
