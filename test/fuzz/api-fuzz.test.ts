// The Management API against hostile requests, a few thousand of them; "npm run fuzz -- api" sends more.
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { fc } from '../support/fast-check.ts';
import { askRaw } from '../support/raw-http-client.ts';
import { descriptionOf, fuzzApi, refusalProblem } from './api-fuzz.ts';
import { startFuzzServer, type FuzzServer } from './fuzz-server.ts';
import { HOSTILE_STEPS } from './hostile-request-table.ts';
import { TEST_SEED } from '../support/test-seed.ts';

const RUNS_AN_OPERATION = 60;
const PATH_RUNS = 800;
/** QUERY is one that the framework has rules of its own for. */
const UNUSED_METHODS = ['PUT', 'PATCH', 'DELETE', 'QUERY', 'TRACE', 'PROPFIND', 'SEARCH', 'PURGE', 'LINK'];

suite('hostile requests to the Management API', () => {
  let server: FuzzServer;

  before(async () => {
    console.log(`FRONTDOOR_TEST_SEED=${TEST_SEED}`);
    server = await startFuzzServer();
  });
  after(() => server?.close());

  test('get documented answers from every operation, and affect no other object and no other caller', async () => {
    const result = await fuzzApi(server, { seed: TEST_SEED, runs: RUNS_AN_OPERATION });
    assert.deepEqual(result.findings, []);
    assert.ok(result.operations > 60);
    // It got past the first checks often enough to mean something.
    const done = [...result.statuses]
      .filter(([status]) => status < 300)
      .reduce((sum, [, count]) => sum + count, 0);
    assert.ok(done > result.requests / 20, `${done} of ${result.requests} were carried out`);
  });

  test('get nothing for a path that is not exactly one of the description, with and without credentials', async () => {
    const { paths } = await descriptionOf(server);
    const patterns = Object.entries(paths).map(([path, { get }]) => ({
      pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/?#]+')}(?:\\?|$)`),
      isOpen: (get?.['security'] as unknown[] | undefined)?.length === 0,
    }));
    const step = fc.constantFrom(
      ...[
        'frontdoor',
        'docs',
        'openapi.json',
        'oauth',
        'token',
        '.well-known',
        'jwks.json',
        'organizations',
        'backup',
      ],
      ...['Frontdoor', 'FRONTDOOR', 'docs%2f', '%64ocs', 'docs;', 'docs/', '/', '', server.first.frontdoorId],
      ...HOSTILE_STEPS,
    );
    const target = fc.array(step, { minLength: 1, maxLength: 5 }).map((steps) => `/${steps.join('/')}`);
    const property = fc.asyncProperty(target, fc.boolean(), async (path, isCaller) => {
      const headers: Record<string, string> = isCaller ? { authorization: server.authorization } : {};
      const answer = await server.send({ method: 'GET', target: path, headers, body: undefined });
      if (answer.status < 400) {
        const row = patterns.find(({ pattern }) => pattern.test(decodedDots(path)));
        assert.ok(row !== undefined && (isCaller || row.isOpen), `${path}: ${answer.status}`);
        return;
      }
      assert.ok(answer.status < 500, `${path}: ${answer.status}`);
      assert.equal(refusalProblem(answer), undefined, path);
    });
    await fc.assert(property, { numRuns: PATH_RUNS });
  });

  test('with a method that a path does not have get 405 with the methods of the path', async () => {
    const { paths } = await descriptionOf(server);
    for (const [path, methods] of Object.entries(paths)) {
      const target = path.replaceAll(/\{\w+\}/g, server.first.frontdoorId);
      const documented = Object.keys(methods).map((method) => method.toUpperCase());
      for (const method of UNUSED_METHODS.filter((each) => !documented.includes(each))) {
        // For methods that only ids have, a literal path segment is an id.
        if (method === 'DELETE' && path.endsWith('/enrollments')) continue;
        const headers = { authorization: server.authorization };
        const answer = await server.send({ method, target, headers, body: undefined });
        assert.equal(answer.status, 405, `${method} ${path}`);
        assert.equal(refusalProblem(answer), undefined, `${method} ${path}`);
      }
    }
  });

  test('are refused in JSON when they are no HTTP that a client library would send', async () => {
    const port = Number(new URL(server.url).port);
    const host = `127.0.0.1:${port}`;
    for (const path of ['/a b', '*', '/\u0001', '/docs\u0000', 'docs', '//docs']) {
      const answer = await askRaw(port, { path, host, headers: { connection: 'close' } });
      assert.ok(answer.status >= 400 && answer.status < 500, `${JSON.stringify(path)}: ${answer.status}`);
      assert.deepEqual(Object.keys(JSON.parse(answer.text) as object).sort(), ['error', 'message'], path);
    }
    for (const headers of [
      { 'transfer-encoding': 'chunked', 'content-length': '4' },
      { 'transfer-encoding': 'x' },
      { 'content-length': '-1' },
      { 'content-length': '1, 2' },
      { 'content-length': '1e9' },
      { 'x-long': 'x'.repeat(20_000) },
    ]) {
      const answer = await askRaw(port, { method: 'POST', path: '/frontdoor', host, headers });
      assert.ok(
        answer.status >= 400 && answer.status < 500,
        `${JSON.stringify(headers).slice(0, 80)}: ${answer.status}`,
      );
    }
    const still = await askRaw(port, { path: '/openapi.json', host, headers: { connection: 'close' } });
    assert.equal(still.status, 200);
  });
});

/** A router decodes unreserved characters before it compares: `%64ocs` is `docs`. */
function decodedDots(path: string): string {
  return path.replaceAll(/%[2-7][0-9a-f]/gi, (code) => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : code;
  });
}
