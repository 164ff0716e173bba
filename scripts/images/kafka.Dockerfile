# Apache Kafka's released jars on Debian's Java. KAFKA_X_Y is the setting x.y, as in apache/kafka's image.
ARG BASE=debian:bookworm-slim
FROM ${BASE}
RUN export DEBIAN_FRONTEND=noninteractive && mkdir -p /usr/share/man/man1 && apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends openjdk-17-jre-headless \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /usr/share/doc/* /usr/share/man/* \
    && useradd --uid 1000 --create-home kafka \
    && install -d -o kafka -g kafka /var/lib/kafka /var/lib/kafka/data
COPY libs /opt/kafka/libs
COPY log4j2.properties /opt/kafka/config/
COPY kafka-start /usr/local/bin/
USER kafka
EXPOSE 9092
CMD ["kafka-start"]
