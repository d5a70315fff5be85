import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parsePostgresUrl } from './postgres-url.ts';

const PASSWORD = 'canary-of-url';

describe("a database's URL", () => {
  it('is read with its encoded characters, and names itself without its password', () => {
    const target = parsePostgresUrl(`postgres://me%40home:${PASSWORD}%2F%3A@db.example:6543/front%20door`);
    assert.equal(target.user, 'me@home');
    assert.equal(target.password, `${PASSWORD}/:`);
    assert.equal(target.database, 'front door');
    assert.equal(target.label, 'db.example:6543/front door');
    assert.equal(parsePostgresUrl('postgresql://u@[::1]/d').label, '[::1]:5432/d');
  });

  it('may name a Unix socket by its directory', () => {
    for (const url of ['postgres://u@localhost/d?host=/run/pg', 'postgres://u@%2Frun%2Fpg/d']) {
      const { host, ssl } = parsePostgresUrl(url);
      assert.deepEqual([host, ssl], ['/run/pg', false]);
    }
  });

  it('connects to another machine with TLS and a checked certificate, unless it sets another mode', () => {
    const sslOf = (rest: string) => parsePostgresUrl(`postgres://u@${rest}`).ssl;
    assert.equal(sslOf('127.0.0.1/d'), false);
    const checked = sslOf('db.example/d');
    assert.ok(checked !== false && checked.rejectUnauthorized === undefined);
    assert.equal(checked.checkServerIdentity, undefined);
    assert.equal(sslOf('db.example/d?sslmode=disable'), false);
    const unchecked = sslOf('db.example/d?sslmode=require');
    assert.ok(unchecked !== false && unchecked.rejectUnauthorized === false);
    const local = sslOf('localhost/d?sslmode=verify-full');
    assert.ok(local !== false && local.rejectUnauthorized === undefined);
  });

  it('is refused with what is wrong with it, and never shown', () => {
    const table: readonly (readonly [string, RegExp])[] = [
      ['nonsense', /form/],
      [`mysql://u:${PASSWORD}@h/d`, /form/],
      [`postgres://:${PASSWORD}@h/d`, /name a user/],
      [`postgres://u:${PASSWORD}@h`, /name a database/],
      [`postgres://u:${PASSWORD}@a,b/d`, /one host|form/],
      [`postgres://u:${PASSWORD}%zz@h/d`, /%25/],
      [`postgres://u:${PASSWORD}@h/d?sslmode=prefer`, /sslmode/],
      [`postgres://u:${PASSWORD}@h/d?sslmode=verify-ca`, /sslrootcert/],
      [`postgres://u:${PASSWORD}@h/d?sslmode=require&sslcert=x`, /sslkey/],
      [`postgres://u:${PASSWORD}@h/d?sslrootcert=/none/ca.pem`, /sslrootcert that cannot be read/],
      [`postgres://u:${PASSWORD}@h/d?sslmode=disable&sslrootcert=x`, /certificates/],
      [`postgres://u:${PASSWORD}@h/d?sslmode=require&sslmode=disable`, /twice/],
      [`postgres://u:${PASSWORD}@h/d?pool=5`, /not pool/],
    ];
    for (const [url, message] of table) {
      assert.throws(
        () => parsePostgresUrl(url),
        (error: Error & { kind?: string }) => {
          assert.equal(error.kind, 'invalid', url);
          assert.match(error.message, message, url);
          assert.ok(!`${error.stack}${String(error.cause)}`.includes(PASSWORD), url);
          return true;
        },
      );
    }
  });
});
