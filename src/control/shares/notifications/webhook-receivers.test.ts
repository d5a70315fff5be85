// The code for receivers in docs/guide/notifications.md accepts what we send, and nothing that was changed.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, describe, it } from 'node:test';
import { newWebhookSecret, webhookBody, webhookHeaders } from './webhook-message.ts';

const guide = readFileSync(new URL('../../../../docs/guide/notifications.md', import.meta.url), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'frontdoor-receivers-'));
const message = {
  id: 'b0c7',
  type: 'share.failing',
  atMs: 1_700_000_000_000,
  data: '{"total":1,"text":"ü"}',
};
const secret = newWebhookSecret();
const body = webhookBody(message);
const headers = webhookHeaders(message.id, body, [newWebhookSecret(), secret], Date.now());

function codeOf(language: string): string {
  const section = guide.slice(guide.indexOf('## Verify the signature'));
  const [, code] = new RegExp('```' + language + '\\n([^]*?)```').exec(section) ?? [];
  assert.ok(code !== undefined, language);
  return code;
}

/** A program that prints whether it accepts the body. */
function answerOf(command: string, code: string, bodyText: string): string {
  const path = join(folder, 'receiver.mjs');
  writeFileSync(path, code);
  const env = {
    ...process.env,
    SECRET: secret,
    ID: headers['webhook-id'],
    TIMESTAMP: headers['webhook-timestamp'],
    SIGNATURES: headers['webhook-signature'],
    BODY: bodyText,
    HEADERS: JSON.stringify(headers),
  };
  return execFileSync(command, [path], { env, encoding: 'utf8' }).trim();
}

describe('the code for receivers of notifications', () => {
  after(() => rmSync(folder, { recursive: true, force: true }));
  const programs: Readonly<Record<string, readonly [command: string, code: string]>> = {
    js: [
      process.execPath,
      `${codeOf('js')}\nconst { SECRET, HEADERS, BODY } = process.env;\nconsole.log(verify(SECRET, JSON.parse(HEADERS), BODY) ? 'valid' : 'invalid');`,
    ],
    python: [
      'python3',
      `${codeOf('python')}\nimport os, json\nprint("valid" if verify(os.environ["SECRET"], json.loads(os.environ["HEADERS"]), os.environ["BODY"].encode()) else "invalid")`,
    ],
    sh: ['sh', codeOf('sh')],
  };
  it('accepts our message and no other body, in each language', () => {
    for (const [language, [command, code]] of Object.entries(programs)) {
      assert.equal(answerOf(command, code, body), 'valid', language);
      assert.equal(answerOf(command, code, body.replace('"total":1', '"total":2')), 'invalid', language);
    }
  });
});
