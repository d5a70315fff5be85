// The control plane is killed while it works on the form of an invitation, which is sent again after its next start. There is
// one person afterwards, who can log in, and one use of the invitation.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { FirstStart } from '#control';
import { JsonClient, type JsonAnswer } from '#net/http';
import { PartProcess } from '../support/part-process.ts';

/** Milliseconds from the form to the kill. The hash of the password takes about 30. */
const KILLED_AFTER_MS = [0, 20, 40, 80] as const;

interface Ready extends FirstStart {
  readonly apiUrl: string;
}

describe('a control plane that is killed while a form is sent', () => {
  let folder: string;
  let control: PartProcess<Ready>;
  let client: JsonClient;
  let first: Ready;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'frontdoor-console-killed-'));
    control = new PartProcess<Ready>({
      name: 'control',
      readyFile: join(folder, 'ready.json'),
      args: (last) => [
        'control',
        '--data-dir',
        folder,
        '--ready-file',
        join(folder, 'ready.json'),
        '--api-port',
        last === undefined ? '0' : new URL(last.apiUrl).port,
        '--edge-api-port',
        '0',
        '--ctrl-port',
        '0',
        '--log-level',
        'warn',
      ],
    });
    first = await control.start();
    client = new JsonClient({ origin: first.apiUrl });
  });
  after(async () => {
    await client?.close();
    await control?.kill();
    rmSync(folder, { recursive: true });
  });

  async function call<T>(method: 'GET' | 'POST', path: string, body?: object): Promise<T> {
    const headers = { authorization: `Basic ${first.accountId}:${first.apiToken}` };
    const answer = await client.request({ method, path, headers, body });
    assert.ok(answer.status < 300, answer.text);
    return answer.json as T;
  }

  function submit(path: string, fields: Readonly<Record<string, string>>): Promise<JsonAnswer> {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: first.apiUrl };
    const body = new URLSearchParams(fields).toString();
    return client.request({ method: 'POST', path: `/console${path}`, headers, body });
  }

  const amount = async (path: string): Promise<number> =>
    (await call<{ totalElements: number }>('GET', path)).totalElements;

  it('makes nothing twice, and loses nothing that it had confirmed', async () => {
    let lost = 0;
    for (const [at, afterMs] of KILLED_AFTER_MS.entries()) {
      const what = `killed after ${afterMs} ms`;
      const name = `person${at}`;
      const { link } = await call<{ link: string }>('POST', '/invitations', { name, role: 'reader' });
      const [email, password] = [`${name}@example.com`, 'seven small harbours'];
      const form = { code: link.split('#')[1]!, name, email, password };
      const answered = submit('/welcome', form).then(
        ({ status }) => status,
        () => undefined,
      );
      await pause(afterMs);
      await control.kill();
      const before = await answered;
      await control.start();
      const { status } = await submit('/welcome', form);
      // A form whose answer was lost may have been worked on.
      assert.ok(status === 303 || status === 403, `${what}: ${status}`);
      if (before === 303) assert.equal(status, 403, what);
      else lost += 1;
      assert.equal((await submit('/log-in', { name: email, password })).status, 303, what);
      assert.equal(await amount(`/people?name=${name}`), 1, what);
      assert.equal(await amount(`/invitations?name=${name}`), 0, what);
    }
    assert.equal(await amount('/people'), KILLED_AFTER_MS.length);
    const used = await call<{ content: unknown[] }>('GET', '/audit-events?action=acceptInvitation');
    assert.equal(used.content.length, KILLED_AFTER_MS.length);
    assert.ok(lost > 0, 'some answers were lost');
  });
});
