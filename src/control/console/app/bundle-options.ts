/** The options of a build. They are part of the hash that it notes. */

/** Names in the folder of a build; `[hash]` follows the content. */
const FILE_NAME = '[name]-[hash]';

export const BUNDLE_OPTIONS = {
  entryPoints: { main: 'src/console/main.tsx' },
  bundle: true,
  splitting: true,
  format: 'esm',
  minify: true,
  charset: 'utf8',
  legalComments: 'eof',
  // Where the packages lie is in comments: the same place in each copy.
  preserveSymlinks: true,
  jsx: 'automatic',
  // Browsers of the last two years.
  target: ['chrome125', 'firefox127', 'safari17.5'],
  // Packages ask for it by this name.
  define: { [`process.${'env'}.NODE_ENV`]: '"production"' },
  loader: { '.svg': 'file', '.png': 'file', '.woff2': 'file' },
  entryNames: FILE_NAME,
  chunkNames: FILE_NAME,
  assetNames: FILE_NAME,
  // Packages whose names are imported from their own modules.
  gathering: { '@mantine/core': 'node_modules/@mantine/core/esm/index.mjs' },
  // Options of a file that a copy of the sources lacks would change the result.
  tsconfigRaw: { compilerOptions: { jsx: 'react-jsx', verbatimModuleSyntax: true } },
} as const;

/** Levels. Brotli's level 9 costs seven times the CPU for 0.3 % of the bytes. */
export const COMPRESSION = { gzip: 9, brotli: 7 } as const;
