// The files of an agent's client certificate, as its options name them.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { targetClientsOf } from '../../bin/target-client.ts';
import { makeTestAuthority } from '../support/certificates.ts';

const folder = mkdtempSync(join(tmpdir(), 'target-client-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

test('a client certificate needs its own key, and nothing of a file is repeated', async () => {
  const authority = await makeTestAuthority();
  const [own, other] = await Promise.all([authority.issue('own'), authority.issue('other')]);
  const cert = file('own.pem', own.cert);
  const key = file('own.key', own.key);
  const refused = (certificate?: string, privateKey?: string): string => {
    try {
      targetClientsOf({
        targetClientCertificate: certificate === undefined ? undefined : [certificate],
        targetClientKey: privateKey === undefined ? undefined : [privateKey],
      });
      return '';
    } catch (error) {
      return String(error);
    }
  };
  assert.equal(targetClientsOf({}), undefined);
  const named = { targetClientCertificate: [cert, `plc=${cert}`], targetClientKey: [`plc=${key}`, key] };
  const pair = { cert: own.cert, key: own.key };
  assert.deepEqual(
    [...targetClientsOf(named)!],
    [
      ['', pair],
      ['plc', pair],
    ],
  );
  assert.match(
    refused(`plc=${cert}`, key),
    /--target-client-certificate plc=FILE and .* are needed together/,
  );
  const twice = { targetClientCertificate: [cert, cert], targetClientKey: [key] };
  assert.throws(
    () => targetClientsOf(twice),
    /--target-client-certificate: there are two files without a name/,
  );
  assert.match(refused(cert), /--target-client-key are needed together/);
  assert.match(refused(undefined, key), /are needed together/);
  assert.match(refused(cert, file('other.key', other.key)), /the key belongs to another certificate/);
  const swapped = [refused(key, key), refused(cert, cert), refused(cert, own.key)];
  for (const message of swapped) {
    assert.match(message, /--target-client-(certificate|key): /);
    assert.doesNotMatch(message, /BEGIN|MI/);
  }
});
