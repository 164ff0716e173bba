# The service's image: one virtual environment of locked wheels on a Python base, nothing else added.
#
#   make image                                   # or: docker build --tag pokdeng-settlement .
#   docker run --rm pokdeng-settlement demo --json
#
# BASE is any image with Python 3.11 or newer as python3 and its venv module. An index of your own: pip's settings as the
# build secret pip.conf, its certificate authority as the secret ca (read where pip.conf says cert = /run/secrets/ca).
ARG BASE=python:3.12-slim

FROM ${BASE} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore PIP_CONFIG_FILE=/run/secrets/pip.conf
WORKDIR /src
COPY requirements/build.txt requirements/runtime.txt requirements/
RUN --mount=type=secret,id=pip.conf --mount=type=secret,id=ca \
    python3 -m venv /opt/build \
    && python3 -m venv --without-pip /opt/pokdeng \
    && /opt/build/bin/pip install --quiet --require-hashes --only-binary :all: -r requirements/build.txt \
    && /opt/build/bin/pip --python /opt/pokdeng install --quiet --require-hashes --only-binary :all: -r requirements/runtime.txt
COPY pyproject.toml README.md LICENSE ./
COPY services services
RUN /opt/build/bin/pip wheel --quiet --no-deps --no-index --no-build-isolation --wheel-dir /wheel . \
    && /opt/build/bin/pip --python /opt/pokdeng install --quiet --no-deps --no-index /wheel/*.whl

FROM ${BASE}
ARG VERSION=0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="pokdeng-settlement" \
    org.opencontainers.image.description="Settlement of live Pok Deng: bets and cards from Kafka, exact balances in Redis." \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.version="${VERSION}" \
    org.opencontainers.image.revision="${REVISION}"
COPY --from=build /opt/pokdeng /opt/pokdeng
ENV PATH=/opt/pokdeng/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 POKDENG_HTTP_HOST=0.0.0.0
WORKDIR /
EXPOSE 6066
# A number, so that Kubernetes can see that it is not root. Any other will do, and so will a read-only root: the worker
# writes no file, the demo's Redis its own under /tmp.
USER 65532:65532
ENTRYPOINT ["/opt/pokdeng/bin/pokdeng"]
CMD ["worker"]
