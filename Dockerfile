# The version of tools/node24, exact, with the digest of its index for all platforms. `docker buildx imagetools inspect` tells both.
FROM node:24.21.0-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS runtime

FROM runtime AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY nest-cli.json tsconfig.json tsconfig.build.json ./
COPY src src
COPY sandbox sandbox
COPY web web
COPY packages packages
COPY scripts scripts
RUN npm run build
# Doubles of vendors are test equipment, so the service's image has none.
RUN cp -r dist dist-service && rm -r dist-service/sandbox dist-service/src/vendor-kit/double dist-service/src/vendors/*/double

FROM runtime AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Three packages are left out that npm installs and the service never loads. `typescript` is an optional peer of the packages for
# OpenAPI and configuration files. `prettier` belongs to a shell completion of nest-commander, and `swagger-ui-dist` to a page that
# the service does not serve.
RUN npm ci --omit=dev && rm -r node_modules/typescript node_modules/prettier node_modules/swagger-ui-dist

# The vendors of the test environment: `docker build --target sandbox`.
FROM runtime AS sandbox
ENV DATA_DIR=/data
WORKDIR /app
RUN install --directory --owner=node --group=node --mode=0700 /data
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/dist-web/sandbox dist-web/sandbox
COPY package.json ./
COPY scripts scripts
USER node
VOLUME /data
EXPOSE 3001
HEALTHCHECK --interval=5s --timeout=5s --start-period=10s --retries=12 CMD ["node", "scripts/health-check.mjs", "/identity/login", "3001"]
CMD ["node", "--enable-source-maps", "dist/sandbox/main.js"]

FROM runtime AS service
ENV NODE_ENV=production PORT=3000 DATA_DIR=/data
WORKDIR /app
# The browser draws without a graphics card, so 190 MB of drivers, their compiler and a validator of drivers stay out. So do 53 MB of
# serif fonts for Chinese, Japanese and Korean, whose other fonts stay.
RUN printf 'path-exclude=%s\n' '/usr/lib/*/dri/*' '/usr/lib/*/libgallium*' '/usr/lib/*/libLLVM*' '/usr/lib/*/libz3*' \
  '/usr/lib/chromium/libVkLayer*' '/usr/share/fonts/opentype/noto/NotoSerifCJK*' > /etc/dpkg/dpkg.cfg.d/never-used
# The browser that prints PDFs, with fonts for every script that a name may have, and `fc-list`, which says what they can draw. A worker without it answers them with 503.
RUN apt-get update && apt-get install -y --no-install-recommends chromium-headless-shell fontconfig fonts-liberation fonts-noto-core fonts-noto-cjk && rm -rf /var/lib/apt/lists/* /var/cache/apt/*
# Vault, and the event log where it is the embedded one. A volume made from this folder is the service's own.
RUN install --directory --owner=node --group=node --mode=0700 /data
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist-service dist
COPY --from=build /app/dist-web/embed dist-web/embed
COPY --from=build /app/dist-web/frame dist-web/frame
COPY --from=build /app/dist-web/reference dist-web/reference
# The guides that are served beside the reference.
COPY docs/quick-start.md docs/sandbox.md docs/errors.md docs/events.md docs/operations.md docs/
COPY docs/contract docs/contract
COPY docs/how-to docs/how-to
COPY docs/operations docs/operations
COPY CHANGELOG.md ./
COPY package.json ./
# The health check, and `npm run ops`.
COPY scripts scripts
USER node
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=5s --timeout=5s --start-period=60s --retries=6 CMD ["node", "scripts/health-check.mjs"]
CMD ["node", "--enable-source-maps", "--max-semi-space-size=64", "dist/src/main.js"]
