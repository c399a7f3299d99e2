# The server in a container, of the same package that Debian gets:
#   docker build -t callsign .
# docs/install.md says how it is run. scripts/test-image tries it, without a registry.
ARG DEBIAN=debian:12
ARG DEBIAN_SLIM=debian:12-slim

FROM ${DEBIAN} AS package
WORKDIR /src
# What building needs changes seldom.
COPY scripts/install-deps scripts/
RUN scripts/install-deps --package
COPY . .
RUN scripts/package && mkdir /package && cp build/release/package/callsign_*.deb /package/

FROM ${DEBIAN_SLIM} AS image
COPY --from=package /package/callsign_*.deb /tmp/
# The package brings its libraries. A master key in an image would be everybody's.
RUN apt-get update -q \
    && apt-get install -qy --no-install-recommends /tmp/callsign_*.deb \
    && rm -rf /etc/callsign/master.key /tmp/callsign_*.deb /var/lib/apt/lists/*
# A container's own 127.0.0.1 is nobody's; who reaches it is said where its port is published.
ENV CALLSIGN_SERVER_LISTEN=0.0.0.0:8080
USER callsign
WORKDIR /var/lib/callsign
VOLUME /var/lib/callsign
EXPOSE 8080
# What it prints the first time is a token, and no secret is for the container's log.
CMD ["/bin/sh", "-c", "exec callsignd --config /etc/callsign/callsign.toml >/dev/null"]
