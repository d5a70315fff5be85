// Each change of the console, when the control plane refuses it: a sentence, the error id and a way on; what was typed stays; and
// the next press sends the change once. The controls are those of the roles' table, so that a new one is here, too.
import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { errors, type Locator, type Page, type Request } from 'playwright-core';
import { operations, type OperationId } from '#contract';
import { browserSkip } from '../support/browser.ts';
import { CONTROLS, controlOf, loadPlaces, type Control } from '../support/console-controls.ts';
import { visitPage } from '../support/console-visits.ts';
import { startFilledConsole, type FilledConsole } from '../support/filled-console.ts';

type Refusal = readonly [status: number, code: string, message: string, shown: string];

/** Each change is refused with this one, and with one of the others: their forms share the code that shows a refusal. */
const INTERNAL: Refusal = [
  500,
  'internal',
  'Internal error 0123456789abcdef',
  'An internal error occurred in the control plane.',
];
const OTHERS: readonly Refusal[] = [
  [409, 'conflict', '', 'The request conflicts with the current state.'],
  [412, 'precondition_failed', '', 'Someone else has changed this.'],
  [428, 'precondition_required', 'If-Match is required', 'If-Match is required.'],
  [429, 'too_many_requests', '', 'Too many requests. Try again in 7 sec.'],
  [503, 'unavailable', '', 'The service is temporarily unavailable.'],
];
const ERROR_ID = 'Error ID: 0123456789abcdef';
/** So that each part reports before the runner takes it for one that hangs, on a slow machine too. */
const PARTS = 6;
const SHOWN_MS = 30_000;
/** After this time without the next step of a form, its fields are filled again. */
const STEP_MS = 2_000;

const FD = '/frontdoors/$frontdoorId';
/** Pages whose form comes after a choice. */
const ROUTES: Partial<Record<OperationId, string>> = {
  createAuthProvider: `${FD}/providers/new?type=GITHUB`,
};
/** What someone types into a field with this label; any other gets a name. */
const VALUES: readonly (readonly [label: RegExp, value: string])[] = [
  [/URL/, 'https://hooks.filled.example/other'],
  [/address of the service/i, 'http://127.0.0.1:7'],
  [/^Header/, 'x-other'],
  [/domain|host/i, 'other.filled.example'],
  [/^Address/, 'tcp:127.0.0.1:9'],
  [/cost/i, '5'],
];
/** They only read. */
const NO_CHANGE: ReadonlySet<OperationId> = new Set([
  ...(['getBackup', 'verifyAuditEvents', 'explainShareAccess', 'checkAuthProviderDraft'] as const),
  'testNotificationDestination',
  'testEventExport',
]);

describe('the changes of the console', { skip: browserSkip }, () => {
  let consoles: FilledConsole;
  let places: ReadonlyMap<OperationId, string>;
  before(async () => {
    places = new Map(await loadPlaces());
    consoles = await startFilledConsole();
  });
  after(() => consoles?.close());

  const methods = new Map(operations.map(({ id, method }) => [id, method]));
  const isLast = (id: OperationId) => Number(methods.get(id) !== 'DELETE');
  // What the other changes make of the world, and what they show once, is not in the way of deletions.
  const changes = (Object.keys(CONTROLS) as OperationId[])
    .filter((id) => !NO_CHANGE.has(id))
    .toSorted((one, other) => isLast(one) - isLast(other));
  const partLength = Math.ceil(changes.length / PARTS);

  const refuse = async (test: TestContext, ids: readonly OperationId[]): Promise<void> => {
    const { page, open, allow } = await consoles.person(test, 'operator');
    allow(/status of (409|412|428|429|500|503)/);
    page.setDefaultTimeout(SHOWN_MS);
    await open('/settings/keys');
    const wrong: string[] = [];
    let count = 0;
    for (const id of ids) {
      const problem = (text: string): number => wrong.push(`${id}: ${text}`);
      const control = CONTROLS[id]!;
      const { method, path } = operations.find((each) => each.id === id)!;
      const pattern = new RegExp(`/console/api${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
      const isChange = (request: Request) =>
        request.method() === method && pattern.test(new URL(request.url()).pathname);
      const sent = { count: 0, passed: 0 };
      let refusal: Refusal | undefined;
      await page.route(
        (url) => pattern.test(url.pathname),
        async (route) => {
          if (!isChange(route.request())) return route.fallback();
          sent.count += 1;
          if (refusal !== undefined) {
            const [status, error, message] = refusal;
            const headers = { 'retry-after': '7' };
            const body = JSON.stringify({ error, message });
            return route.fulfill({ status, headers, contentType: 'application/json', body });
          }
          sent.passed += 1;
          // Other rows need what would be deleted.
          return method === 'DELETE' ? route.fulfill({ status: 204 }) : route.continue();
        },
      );
      try {
        await visitPage(page, consoles.pathOf(ROUTES[id] ?? control.route ?? places.get(id)!));
        await begin(page, id, control);
        const refusals = [OTHERS[changes.indexOf(id) % OTHERS.length]!, INTERNAL];
        for (refusal of refusals) {
          count += 1;
          const [status, , , sentence] = refusal;
          const typed = await press(page, isChange);
          const shown = page.locator('[role=alert]:visible').filter({ hasText: sentence });
          const isShown = await shown
            .filter({ hasText: status === 500 ? ERROR_ID : '' })
            .first()
            .waitFor({ timeout: SHOWN_MS })
            .then(
              () => true,
              () => false,
            );
          const form = await formOf(page);
          if (!isShown) problem(`${status} is not shown: ${(await form.innerText()).slice(0, 400)}`);
          const now = await valuesOf(form);
          for (const [label, value] of typed)
            if (now.has(label) && now.get(label) !== value) problem(`${status}: ${label} has lost ${value}`);
          if ((await submitOf(form)) === undefined) problem(`${status}: there is no way on`);
        }
        refusal = undefined;
        const answered = page.waitForResponse((response) => isChange(response.request()));
        await press(page, isChange);
        const answer = await answered;
        if (!answer.ok()) problem(`the last press was answered ${answer.status()} ${await answer.text()}`);
        if (sent.passed !== 1) problem(`${sent.passed} changes were sent`);
        if (sent.count !== refusals.length + 1) problem(`${sent.count} requests were sent`);
      } catch (error) {
        problem(String(error).slice(0, 600));
      } finally {
        await page.unrouteAll();
        await page.keyboard.press('Escape');
      }
    }
    test.diagnostic(`${count} refusals of ${ids.length} changes, ${wrong.length} wrong`);
    assert.deepEqual(wrong, []);
  };

  for (let part = 0; part < PARTS; part += 1)
    it(`are refused with a sentence, the error id and a way on, keep what was typed, and are sent once by the next press: part ${part + 1} of ${PARTS}`, (test) =>
      refuse(test, changes.slice(part * partLength, (part + 1) * partLength)));

  it('leave no refusal in the dialog when it opens again', async (test) => {
    const { page, open, allow } = await consoles.person(test, 'operator');
    allow(/status of 500/);
    await page.route('**/console/api/console-sessions/*', (route) =>
      route.fulfill({ status: 500, contentType: 'application/json', body: '{"error":"internal"}' }),
    );
    await open('/settings/sessions');
    const end = page.getByRole('button', { name: /^End/ }).first();
    const dialog = page.getByRole('dialog');
    await end.click();
    await dialog.getByRole('button', { name: 'End', exact: true }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    await end.click();
    await dialog.getByRole('button', { name: 'End', exact: true }).waitFor();
    assert.equal(await dialog.getByRole('alert').count(), 0);
    await dialog.getByRole('button', { name: 'End', exact: true }).click();
    await dialog.getByRole('alert').waitFor();
  });
});

/** Opens the form of a change: a dialog, a page, or nothing if the control itself sends it. */
async function begin(page: Page, id: OperationId, control: Control): Promise<void> {
  if (ROUTES[id] !== undefined) return;
  const button = await controlOf(page, control);
  assert.ok(button !== undefined, `${id} has no control`);
  if ((await button.getAttribute('type')) === 'submit') return;
  // A control without a form sends the change itself.
  if (id === 'setInspector') return;
  const address = page.url();
  await button.click();
  const dialog = page.getByRole('dialog').waitFor();
  await Promise.race([dialog, page.waitForURL((url) => url.href !== address)]);
  await (await formOf(page)).locator('button').first().waitFor();
}

/** The open dialog, else the page. */
async function formOf(page: Page): Promise<Locator> {
  const dialog = page.getByRole('dialog');
  return (await dialog.count()) > 0 ? dialog.last() : page.locator('main');
}

/** The button that sends the form, if it can be used. */
async function submitOf(form: Locator): Promise<Locator | undefined> {
  const named = form.locator('button[type=submit]:not([data-loading])');
  const all =
    (await named.count()) > 0 ? named : form.getByRole('button', { name: /^(Save|Stop recording)/ });
  for (const button of await all.all()) if (await button.isEnabled()) return button;
  return undefined;
}

/** Fills what is empty, and presses on through the steps of the form until the change is sent. Returns what the fields have. */
async function press(
  page: Page,
  isChange: (request: Request) => boolean,
): Promise<ReadonlyMap<string, string>> {
  const step = page.locator('.fd-steps [aria-current=step]');
  const deadlineMs = performance.now() + SHOWN_MS;
  while (performance.now() < deadlineMs) {
    const form = await formOf(page);
    if (!(await isFilled(page, form))) continue;
    // A form over what exists is sent when something was typed. One without text is still busy with the press before.
    if ((await submitOf(form)) === undefined) {
      const text = form.getByRole('textbox').first();
      if ((await text.count()) === 0) continue;
      const isNumber = (await text.getAttribute('inputmode')) === 'numeric';
      await text.fill(isNumber ? '72' : 'another name');
    }
    const typed = await valuesOf(form);
    const submit = await submitOf(form);
    assert.ok(submit !== undefined, `nothing to press: ${(await form.innerText()).slice(0, 300)}`);
    if ((await submit.innerText()) === 'Review and save') {
      await submit.click();
      await page.getByRole('dialog').waitFor();
      continue;
    }
    const name = (await step.count()) > 0 ? await step.innerText() : undefined;
    const isLast = name === undefined || (await submit.innerText()) === 'Publish';
    const request = isLast ? page.waitForRequest((each) => isChange(each), { timeout: SHOWN_MS }) : undefined;
    await submit.click();
    if (request !== undefined) {
      await request;
      return typed;
    }
    // A choice whose values had not arrived yet is made in the next round.
    const next = step.filter({ hasNotText: name! });
    await next.waitFor({ timeout: STEP_MS }).catch(() => {});
  }
  throw new Error(`no change was sent: ${(await page.locator('main').innerText()).slice(0, 300)}`);
}

/** Returns false if the form changed in the meantime, as one does that goes back to the step of the refused field. */
async function isFilled(page: Page, form: Locator): Promise<boolean> {
  page.setDefaultTimeout(STEP_MS);
  try {
    await fill(form);
    return true;
  } catch (error) {
    if (error instanceof errors.TimeoutError) return false;
    throw error;
  } finally {
    page.setDefaultTimeout(SHOWN_MS);
  }
}

async function fill(form: Locator): Promise<void> {
  // A share's rules of its own are a choice, whose value is empty.
  const isOpen = ({ label, value, isEnabled }: FieldState): boolean =>
    value === '' && isEnabled && label !== 'Rules';
  await eachThat(form.locator('select'), isOpen, async (select) => {
    const options = select.locator('option:not([value=""])');
    await options.first().waitFor({ state: 'attached' });
    await select.selectOption({ value: (await options.last().getAttribute('value'))! });
  });
  const fields = form.locator(
    'input[required], input[type=text]:not([required]), input:not([type]), textarea[required]',
  );
  const isWanting = (state: FieldState): boolean => valueFor(state) !== undefined;
  await eachThat(fields, isWanting, (field, state) => field.fill(valueFor(state)!));
  const everybody = form.getByRole('radio', { name: /everybody|everyone/i });
  if ((await everybody.count()) > 0) await everybody.first().check();
}

/** Acts on one field at a time, and once on each: an act may bring other fields, or fill them. */
async function eachThat(
  fields: Locator,
  test: (state: FieldState) => boolean,
  act: (field: Locator, state: FieldState) => Promise<unknown>,
): Promise<void> {
  const done = new Set<string>();
  for (;;) {
    const states = await statesOf(fields);
    const index = states.findIndex((state, at) => !done.has(`${at} ${state.label}`) && test(state));
    if (index < 0) return;
    done.add(`${index} ${states[index]!.label}`);
    await act(fields.nth(index), states[index]!);
  }
}

/** What someone types into the field; undefined if nothing. */
function valueFor({ label, value, isEnabled, isRequired }: FieldState): string | undefined {
  if (!isEnabled || value !== '') return undefined;
  const typed = /^Type (.*) to confirm/.exec(label)?.[1];
  const [, known] = VALUES.find(([pattern]) => pattern.test(label)) ?? [];
  const any = isRequired ? `a-${label.replaceAll(/\W+/g, '-').toLowerCase()}-${VALUES.length}` : undefined;
  return typed ?? known ?? any;
}

/** All values at one moment, by the labels of the fields. */
async function valuesOf(form: Locator): Promise<ReadonlyMap<string, string>> {
  const states = await statesOf(
    form.locator('input:not([type=checkbox]):not([type=radio]), textarea, select'),
  );
  return new Map(states.map(({ label, value }) => [label, value]));
}

interface FieldState {
  readonly label: string;
  readonly value: string;
  readonly isEnabled: boolean;
  readonly isRequired: boolean;
}

/** The part of a field's DOM that is read. */
interface Field {
  readonly labels?: Iterable<{ readonly textContent: string }>;
  readonly ariaLabel?: string;
  readonly value: string;
  readonly required?: boolean;
  matches(selector: string): boolean;
}

/** Reads all fields at one moment, by one call of the browser. */
function statesOf(fields: Locator): Promise<readonly FieldState[]> {
  return fields.evaluateAll((elements) =>
    (elements as unknown as readonly Field[]).map((field) => ({
      label:
        [...(field.labels ?? [])].map(({ textContent }) => textContent).join(' ') || (field.ariaLabel ?? ''),
      value: field.value,
      isEnabled: !field.matches(':disabled'),
      isRequired: field.required === true,
    })),
  );
}
