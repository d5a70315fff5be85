// Recorded requests in a real browser: bodies shown as what they are, what was left out and why, a list that is narrowed and paused,
// the request as a command, and repetitions beside what they repeat.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { browserSkip } from '../support/browser.ts';
import { releaseWorld, sharedConsole, type ConsoleBrowser } from '../support/console-browser.ts';
import { checkLooks } from '../support/console-look.ts';
import { until } from '../support/deadline.ts';

const HOST = 'recorded.share.localhost';
/** One red pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
  'base64',
);
const LONG = 'long '.repeat(2_000);
const ANSWERS: Readonly<Record<string, readonly [type: string, body: string | Buffer]>> = {
  '/json': ['application/json', '{"hello":["world"],"token":"secret"}'],
  '/image': ['image/png', PNG],
  '/bytes': ['application/octet-stream', Buffer.of(0xff, 0x00, 0x41)],
  '/long': ['text/plain', LONG],
};
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

interface Received {
  readonly line: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

describe('recorded requests at the console', { skip: browserSkip }, () => {
  let consoles: ConsoleBrowser;
  let service: Server;
  let list: string;
  const received: Received[] = [];

  before(async () => {
    consoles = await sharedConsole();
    service = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      received.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
      const [type, answer] = ANSWERS[request.url ?? ''] ?? ['text/plain', 'received'];
      response.setHeader('content-type', type).end(answer);
    }).listen(0, '127.0.0.1');
    await once(service, 'listening');
    const agent = await consoles.world.startAgent('recorded');
    const target = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    await agent.share(target, { name: 'recorded' });
    list = `/frontdoors/${consoles.world.credentials.frontdoorId}/shares/recorded/requests`;
  });
  after(async () => {
    await releaseWorld();
    service?.closeAllConnections();
    service?.close();
  });

  const send = async (
    path: string,
    {
      method = 'GET',
      headers = {},
      body = '',
    }: { method?: string; headers?: Record<string, string>; body?: string } = {},
  ): Promise<number> => {
    const { httpPort } = consoles.world.up;
    const sent = httpRequest({
      host: '127.0.0.1',
      port: httpPort,
      path,
      method,
      headers: { ...headers, host: HOST },
    });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    await once(response, 'end');
    return response.statusCode!;
  };
  const recorded = async (): Promise<readonly string[]> => {
    const { json } = await consoles.world.call('GET', '/shares/recorded/inspector/requests?size=100');
    const { content } = json as {
      readonly content: readonly { readonly method: string; readonly target: string }[];
    };
    return content.map(({ method, target }) => `${method} ${target}`);
  };
  /** Opens the recording of one request, by its line. */
  const openRecorded = async (test: TestContext, line: string) => {
    const person = await consoles.person(test, 'editor');
    await person.open(list);
    await person.page
      .getByRole('link', { name: `Open ${line}` })
      .first()
      .click();
    await person.page.getByRole('button', { name: 'Edit and replay' }).waitFor();
    return person;
  };

  it('begin at once, with as much of each body as was chosen', async (test) => {
    const { page, open } = await consoles.person(test, 'editor');
    await open(list);
    await page.getByLabel('Body bytes to keep').selectOption('4096');
    await page.getByRole('button', { name: 'Record requests' }).click();
    await page.getByText('Requests are being recorded until').waitFor();
    // Gateways follow within a second.
    await until(
      'the first recording',
      async () => {
        await send('/json');
        return recorded();
      },
      (lines) => lines.includes('GET /json'),
    );
    for (const path of ['/image', '/bytes', '/long']) assert.equal(await send(path), 200);
    await send('/form?page=2&api_key=k', {
      method: 'POST',
      body: 'a=1&b=x+y&password=p',
      headers: { ...FORM, authorization: 'Bearer b', 'x-empty': '' },
    });
    await send('/invalid', {
      method: 'POST',
      body: '{"password":',
      headers: { 'content-type': 'application/json' },
    });
    await until('all recordings', recorded, (lines) =>
      ['GET /long', 'POST /invalid'].every((line) => lines.includes(line)),
    );
  });

  it('show JSON formatted, a form as its fields, text, an image and other bytes', async (test) => {
    const json = await openRecorded(test, 'GET /json');
    const shown = await json.page.getByRole('region', { name: 'Response: Body' }).textContent();
    assert.equal(shown, JSON.stringify({ hello: ['world'], token: '********' }, null, 2));

    const { page } = await openRecorded(test, 'POST /form?page=2&api_key=********');
    await page.locator('dt:text-is("a") + dd:text-is("1")').waitFor();
    await page.locator('dt:text-is("b") + dd:text-is("x y")').waitFor();
    await checkLooks(page, 'request-form');

    const image = await openRecorded(test, 'GET /image');
    const picture = image.page.getByRole('img', { name: 'Body shown as an image' });
    await until(
      'the picture',
      () => picture.evaluate((image: { readonly naturalWidth?: number }) => image.naturalWidth),
      (width) => width === 1,
    );
    await checkLooks(image.page, 'request-image');

    const bytes = await openRecorded(test, 'GET /bytes');
    const hex = await bytes.page.getByRole('region', { name: 'Response: Body' }).textContent();
    assert.match(hex!, /^00000000 {2}ff 00 41 .* {2}\.\.A$/);
    await checkLooks(bytes.page, 'request-bytes');
  });

  it('name what was left out, and why', async (test) => {
    const { page } = await openRecorded(test, 'POST /form?page=2&api_key=********');
    const headers = page.getByRole('region', { name: 'Request: Headers' });
    const valueOf = (name: string) =>
      headers
        .getByRole('row')
        .filter({ has: page.getByRole('cell', { name, exact: true }) })
        .locator('td')
        .last();
    assert.equal(await valueOf('authorization').textContent(), 'redacted, because it may contain a secret');
    assert.equal(await valueOf('x-empty').textContent(), 'empty');
    // In the query, and in the form.
    assert.equal(await page.getByText('******** marks a value that was redacted').count(), 2);

    const long = await openRecorded(test, 'GET /long');
    await long.page.getByText('The body was truncated.').waitFor();
    const kept = await long.page.getByRole('region', { name: 'Response: Body' }).textContent();
    assert.equal(kept, LONG.slice(0, 4_096));

    const invalid = await openRecorded(test, 'POST /invalid');
    await invalid.page.getByText('The body was not kept. Either recording of bodies was off, or').waitFor();
    await checkLooks(invalid.page, 'request-left-out');
  });

  it('are found by text and status, in the address, and stand still while the list is paused', async (test) => {
    const { page, open } = await consoles.person(test, 'editor');
    const other = await consoles.person(test, 'reader');
    await open(list);
    const row = (line: string, at = page) =>
      at.getByRole('link', { name: `Open ${line}`, exact: true }).first();
    await row('GET /image').waitFor();
    await page.getByLabel('Host, target or method contains').fill('/form');
    await row('GET /image').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: /^Open POST \/form/ }).waitFor();
    assert.equal(new URL(page.url()).searchParams.get('text'), '/form');
    await page.getByLabel('Status').selectOption('4xx');
    await page.getByText('No results match these filters.').waitFor();
    await page.reload();
    await page.getByText('No results match these filters.').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).first().click();
    await row('GET /image').waitFor();

    const pause = page.getByRole('button', { name: 'Pause' });
    await pause.click();
    await page.getByText('The list is paused.').waitFor();
    await checkLooks(page, 'requests-paused');
    await other.open(list);
    await send('/while-paused');
    await row('GET /while-paused', other.page).waitFor();
    assert.equal(await row('GET /while-paused').count(), 0);
    await page.getByRole('button', { name: 'Resume' }).click();
    await row('GET /while-paused').waitFor();
  });

  it('are copied as a command that asks the same of the same address', async (test) => {
    const { page } = await openRecorded(test, 'POST /form?page=2&api_key=********');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: /^Copy as curl: / }).click();
    await page.getByRole('button', { name: /^Copied: / }).waitFor();
    const command = await page.evaluate<string>('navigator.clipboard.readText()');
    const { httpPort } = consoles.world.up;
    assert.match(command, new RegExp(` 'http://${HOST}:${httpPort}/form\\?page=2&api_key=…'$`));
    assert.match(command, / -H 'authorization: …'/);
    const before = received.length;
    // As someone does who pastes it, and fills in what was left out.
    await promisify(execFile)('sh', ['-c', command.replaceAll('…', 'filled-in')]);
    const [repeated] = received.slice(before);
    assert.equal(repeated!.line, 'POST /form?page=2&api_key=filled-in');
    assert.equal(repeated!.body, 'a=1&b=x+y&password=filled-in');
    assert.equal(repeated!.headers['x-empty'], '');
  });

  it('are sent again as they were and changed, and both exchanges stand side by side', async (test) => {
    const { page, allow } = await openRecorded(test, 'GET /json');
    // The repetition is opened before it is recorded.
    allow(/status of 404/);
    const before = received.length;
    await page.getByRole('button', { name: 'Edit and replay' }).click();
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    await page.getByRole('link', { name: 'View response' }).click();
    await page.getByRole('heading', { name: 'Replay' }).waitFor();
    assert.deepEqual(
      received.slice(before).map(({ line, body }) => [line, body]),
      [['GET /json', '']],
    );
    for (const name of ['Recorded request', 'Replay'])
      await page.getByRole('region', { name, exact: true }).getByText('"world"').waitFor();
    await checkLooks(page, 'request-both');

    const form = await openRecorded(test, 'POST /invalid');
    await form.page.getByRole('button', { name: 'Edit and replay' }).click();
    await form.page.getByText('The recorded body is incomplete').waitFor();
    const dialog = form.page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Body', exact: true }).fill('{"password":"given"}');
    await checkLooks(form.page, 'request-replay-body');
    form.allow(/status of 404/);
    await dialog.getByRole('button', { name: 'Replay', exact: true }).click();
    await form.page.getByRole('link', { name: 'View response' }).waitFor();
    await until(
      'the repetition at the service',
      () => received.at(-1)!,
      ({ line, body }) => line === 'POST /invalid' && body === '{"password":"given"}',
    );
  });
});
