FROM node:20-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY nest-cli.json tsconfig.json tsconfig.build.json ./
COPY src src
COPY sandbox sandbox
COPY web web
COPY scripts scripts
RUN npm run build

FROM node:20-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev

FROM node:20-slim
ENV NODE_ENV=production PORT=3000 DATA_DIR=/data
WORKDIR /app
# The browser that prints PDFs, with fonts for every script that a name may have, and `fc-list`, which says what they can draw. A worker without it answers them with 503.
RUN apt-get update && apt-get install -y --no-install-recommends chromium-headless-shell fontconfig fonts-liberation fonts-noto-core fonts-noto-cjk && rm -rf /var/lib/apt/lists/*
# Vault, and the event log where it is the embedded one. A volume made from this folder is the service's own.
RUN install --directory --owner=node --group=node --mode=0700 /data
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/dist-web/embed dist-web/embed
COPY --from=build /app/dist-web/frame dist-web/frame
# The sandbox is run from this image too.
COPY --from=build /app/dist-web/sandbox dist-web/sandbox
COPY package.json ./
# The health check, and `npm run ops`.
COPY scripts scripts
USER node
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --start-interval=1s --retries=3 CMD ["node", "scripts/health-check.mjs"]
CMD ["node", "--enable-source-maps", "--max-semi-space-size=64", "dist/src/main.js"]
