# The binary on a small Debian: docker build -t shopwright .
FROM rust:1.95-bookworm AS build
WORKDIR /source
COPY . .
RUN cargo build --release --locked -p shopwright

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates curl \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --create-home shopwright \
    && install -d -o shopwright /srv/shop
COPY --from=build /source/target/release/shopwright /usr/local/bin/shopwright
COPY deploy/init /usr/local/lib/shopwright/init
USER shopwright
EXPOSE 8420
ENTRYPOINT ["shopwright"]
