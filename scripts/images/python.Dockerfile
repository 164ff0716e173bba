# Debian's Python, a base for our own image where python:...-slim is out of reach.
ARG BASE=debian:bookworm-slim
FROM ${BASE}
RUN export DEBIAN_FRONTEND=noninteractive && mkdir -p /usr/share/man/man1 && apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends python3 python3-venv ca-certificates \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /usr/share/doc/* /usr/share/man/*
