import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { OPEN_RULES } from '#domain/access';
import { bodyOf, GatewayWorld, statusOf } from '../testing/gateway-world.ts';
import { challengeAnswers } from './challenge-answer.ts';

const TOKEN = 'LoqXcYV8q5ONbJQxbmR7SCTNo3tiAXDfowyjxAjEuX0';
const PATH = `/.well-known/acme-challenge/${TOKEN}`;
const GUARDED = { rules: { ...OPEN_RULES, basicAuth: [{ name: 'ann', passwordHash: 'x' }] } };

/** A world with one open and one guarded share that count the requests that reach them. */
async function worldWith(isAutomatic: boolean): Promise<{ world: GatewayWorld; hits: string[] }> {
  const hits: string[] = [];
  const world: GatewayWorld = await GatewayWorld.start({
    challenges: isAutomatic
      ? challengeAnswers('thumb', (host) => world.gateway.table.find(host) !== undefined)
      : undefined,
  });
  for (const name of ['open', 'guarded'])
    await world.serve(
      name,
      (request, response) => {
        hits.push(`${name} ${request.method} ${request.url}`);
        response.end('from the service');
      },
      name === 'guarded' ? GUARDED : {},
    );
  return { world, hits };
}

function ask(world: GatewayWorld, name: string, path: string, method = 'GET'): Promise<string> {
  const host = name.includes('.') ? name : `${name}.share.localhost`;
  return world.ask(`${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
}

describe('challenges of a certificate authority, with automatic certificates', () => {
  let world: GatewayWorld;
  let hits: string[];
  before(async () => {
    ({ world, hits } = await worldWith(true));
  });
  after(() => world.close());

  it('are answered with the token and the thumbprint, for open and guarded shares, without the service', async () => {
    for (const name of ['open', 'guarded']) {
      const answer = await ask(world, name, PATH);
      assert.equal(statusOf(answer), 200);
      assert.equal(bodyOf(answer), `${TOKEN}.thumb`);
    }
    assert.deepEqual(hits, []);
  });

  it('are not answered for hosts that are not served', async () => {
    assert.equal(statusOf(await ask(world, 'nobody.example', PATH)), 404);
  });

  it('are judged by the rules of the share with another method, token or path', async () => {
    const paths = [
      `${PATH}/x`,
      `${PATH}?x`,
      '/.well-known/acme-challenge/',
      '/.well-known/acme-challenge/short',
    ];
    for (const path of paths) assert.equal(statusOf(await ask(world, 'guarded', path)), 503, path);
    for (const method of ['POST', 'HEAD', 'OPTIONS', 'DELETE'])
      assert.equal(statusOf(await ask(world, 'guarded', PATH, method)), 503, method);
    assert.deepEqual(hits, []);
    for (const path of paths) assert.match(await ask(world, 'open', path), /from the service/);
    assert.equal(hits.length, paths.length);
  });
});

describe('challenges of a certificate authority, without automatic certificates', () => {
  it('are requests like others: a guarded share stays closed, an open one answers itself', async () => {
    const { world, hits } = await worldWith(false);
    assert.equal(statusOf(await ask(world, 'guarded', PATH)), 503);
    assert.deepEqual(hits, []);
    assert.match(await ask(world, 'open', PATH), /from the service/);
    assert.deepEqual(hits, [`open GET ${PATH}`]);
    await world.close();
  });
});
