# docs/operations/self-hosting.md has the commands that build and run this image.

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run build:pages

FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional

FROM node:24-bookworm-slim
WORKDIR /app
COPY package.json LICENSE ./
COPY --from=packages /app/node_modules node_modules
COPY bin bin
COPY catalog catalog
COPY lambdas lambdas
COPY lib lib
COPY local local
COPY --from=build /app/built built
# A new volume copies the owner of this folder.
RUN install --directory --mode=700 --owner=node --group=node /data
ENV MODE=production HOST=0.0.0.0 PORT=8787 DATA_DIR=/data
# The user node. Kubernetes compares numbers.
USER 1000:1000
VOLUME /data
EXPOSE 8787
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# The same as `npm start`. A test compares the two.
CMD ["node", "--max-semi-space-size=4", "--max-old-space-size=1536", "--heap-growing-percent=20", "bin/local.ts"]
