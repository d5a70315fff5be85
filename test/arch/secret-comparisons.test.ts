// Secrets are compared in a time that does not depend on where they differ: never with `===`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTest, sourceFiles } from '../../tools/source-tree.ts';

/** Names of secrets. */
const SECRET =
  /^(?:[\w?!#]+\.)*#?(?:\w*(?:[Ss]ecret|[Hh]mac|[Pp]assword|[Ss]ignature|[Dd]igest|[Tt]oken|[Tt]ag|[Hh]ash|nrollmentCode)|apiKey)!?$/;
/** Operands that may be compared with `===`: undefined and null, and constants of the code. */
const LITERAL = /^(?:undefined|null|true|false|typeof|['"`]|-?\d|[A-Z_]+$)/;
const COMPARISON = /([\w.?!#]+)\s*[!=]==?\s*([\w.?!#'"`-]+)(?![\w.(])/g;

/** Comparisons of values that are named like a secret and are none, or whose time reveals nothing. */
const HARMLESS: readonly (readonly [path: string, text: string, reason: string])[] = [
  ['src/gateway/shares/share-comparison.ts', 'a.token === b.token', 'a share’s token is its name'],
  ['src/agent/share-registry.ts', 'name === token', 'a share’s token is its name'],
  ['src/agent/share-registry.ts', 'share.token === token', 'a share’s token is its name'],
  ['src/agent/share-commands.ts', 'each.token === token', 'a share’s token is its name'],
  [
    'src/control/shares/operations/share-operations.ts',
    'body.id !== before.token',
    'a share’s token is its name',
  ],
  ['src/router/edge/edge-listener.ts', 'peer.session.token === session.token', 'both are the controller’s'],
  ['src/router/edge/dial-frame.ts', 'key === peer.stickinessToken', 'the number of a header'],
  ['src/control/console/password-change.ts', 'current === password', 'one person typed both'],
  ['src/control/shares/provider/provider-secrets.ts', 'before?.hmac === hmac', 'both are what we store'],
  ['src/control/audit/audit-verification.ts', '!== hash', 'the requester may read the hashes'],
  ['src/control/audit/audit-verification.ts', 'head.hash !== seal', 'the requester may read the hashes'],
  ['src/sdk/edge-api-client.ts', 'this.#session?.token !== token', 'our own session, twice'],
  ['src/sdk/router-connection.ts', 'this.#token === token', 'our own session, twice'],
];

interface Found {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

function comparisonsOfSecrets(): Found[] {
  const found: Found[] = [];
  for (const { path, text } of sourceFiles('src', 'bin')) {
    if (isTest(path) || path.includes('/gen/') || path.includes('/testing/')) continue;
    for (const [index, line] of text.split('\n').entries()) {
      for (const [, left = '', right = ''] of line.matchAll(COMPARISON)) {
        const isSecret =
          (SECRET.test(left) && !LITERAL.test(right)) || (SECRET.test(right) && !LITERAL.test(left));
        if (isSecret) found.push({ path, line: index + 1, text: line.trim() });
      }
    }
  }
  return found;
}

test('no secret is compared with an operator whose time depends on the first difference', () => {
  const wrong = comparisonsOfSecrets().filter(
    ({ path, text }) => !HARMLESS.some(([file, part]) => file === path && text.includes(part)),
  );
  assert.deepEqual(
    wrong.map(({ path, line, text }) => `${path}:${line} ${text}`),
    [],
    'use Secrets.matches or timingSafeEqual, or add the reason why it is harmless to the list above',
  );
});

test('the list of harmless comparisons names none that is gone', () => {
  const found = comparisonsOfSecrets();
  assert.deepEqual(
    HARMLESS.filter(([file, part]) => !found.some(({ path, text }) => path === file && text.includes(part))),
    [],
  );
});
