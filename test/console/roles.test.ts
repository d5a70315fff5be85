// What each role can do on each page of the console is what the control plane allows it: pages, their calls, their controls. And
// what the controls of deletions do to the product.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { operations, type OperationId } from '#contract';
import { ROLES, type Role } from '#domain';
import { AUTHORIZATION_RULES, SCOPES_OF_ROLES } from '../conformance/authorization-rule-table.ts';
import { browserSkip } from '../support/browser.ts';
import { CONTROLS, controlOf, loadPlaces, type Control } from '../support/console-controls.ts';
import { visitPage } from '../support/console-visits.ts';
import { routesOf, startFilledConsole, type FilledConsole } from '../support/filled-console.ts';

/** Changes whose control is there only for something that this world does not have, or stands in the dialog of another one. */
const WITHOUT_CONTROL: Partial<Record<OperationId, string>> = {
  compareSharePolicy: 'The control of replaceSharePolicy begins it.',
  comparePolicy: 'The control of replacePolicy begins it.',
  checkAuthProvider: 'It is called when the page opens; the check has no side.',
  reserveAuthProvider: 'It is called when the page opens, and stores nothing.',
  endLoginSession: 'A visitor has to be logged in: test/console/providers.test.ts.',
  endLoginSessions: 'A visitor has to be logged in: test/console/providers.test.ts.',
  removePersonSecondFactor: 'The person needs a second factor: test/console/settings.test.ts.',
  retryNotificationDelivery: 'A delivery has to have failed.',
  withdrawHostname: 'The domain has to be granted: test/console/domains.test.ts.',
  inspectRouters: 'It changes nothing, and only operators see its page: test/console/mesh.test.ts.',
  endCircuit: 'A circuit has to be open: test/console/mesh.test.ts.',
};

/** Deletions in an order in which none takes away what a later one needs. */
const DELETIONS: readonly OperationId[] = [
  ...([
    'deleteInspectedRequests',
    'cancelEnrollment',
    'deleteInvitation',
    'deleteNotificationDestination',
    'releaseRestingName',
    'removeShareDomain',
    'deletePolicy',
  ] as const),
  ...(['endPreviousToken', 'deleteApiAccount', 'endPreviousSecret', 'deleteOauthClient'] as const),
  ...(['deletePerson', 'deleteConsoleLogIn', 'deleteOrganization'] as const),
  ...(['deleteTerminator', 'deleteFabricService', 'deleteRouter', 'deleteGateway'] as const),
  ...(['deleteCustomFrontend', 'deleteShare', 'deleteAuthProvider', 'deleteEnvironment'] as const),
  // It may be the session of the test.
  ...(['deleteFrontdoor', 'endConsoleSession'] as const),
];
/** Where a deletion takes away a field of what its path begins with. */
const FIELDS: Readonly<Record<string, string>> = {
  'previous-token': 'previousTokenUntil',
  'previous-secret': 'previousSecretUntil',
};

const mayCall = (role: Role, id: OperationId): boolean => {
  const [needs] = AUTHORIZATION_RULES[id];
  return needs === 'nothing' || SCOPES_OF_ROLES[role].includes(`frontdoor.${needs}`);
};

/** They leave a resource with its defaults. */
const RESETS: ReadonlySet<OperationId> = new Set(['resetShareUpstream', 'deleteEventExport']);

describe('the roles at the console', { skip: browserSkip }, () => {
  let consoles: FilledConsole;
  let places: readonly (readonly [OperationId, string])[];
  before(async () => {
    places = await loadPlaces();
    consoles = await startFilledConsole();
  });
  after(() => consoles?.close());

  it('have a row for each change that the console makes', () => {
    const reading = new Set(operations.filter(({ method }) => method === 'GET').map(({ id }) => id));
    const changes = places.map(([id]) => id).filter((id) => !reading.has(id));
    const known = new Set([...Object.keys(CONTROLS), ...Object.keys(WITHOUT_CONTROL)]);
    assert.deepEqual(
      changes.filter((id) => !known.has(id)),
      [],
    );
  });

  for (const role of ROLES) {
    it(`show a ${role} what the control plane permits, and no more`, async (test) => {
      const { page, open } = await consoles.person(test, role);
      await open('/activity');
      const answers: string[] = [];
      page.on('response', (response) => {
        const { pathname } = new URL(response.url());
        if (!pathname.includes('/console/api/')) return;
        answers.push(`${response.status()} ${response.request().method()} ${pathname}`);
      });
      const routes = (await routesOf(page)).filter((route) => route !== '/logged-in-again');
      const [wrong, counts] = [[] as string[], { pages: 0, closed: 0, controls: 0 }];
      for (const route of routes) {
        await visitPage(page, consoles.pathOf(route));
        const own = places.filter(([, place]) => place === route).map(([id]) => id);
        const isOpen = own.length === 0 || own.some((id) => mayCall(role, id));
        // Where only changes are, the page itself has the reason.
        const refusal = isOpen
          ? 'Your role does not allow you to view this page.'
          : 'Your role does not allow';
        const isShown = (await page.locator('main').getByText(refusal).count()) === 0;
        counts[isOpen ? 'pages' : 'closed'] += 1;
        if (isShown !== isOpen) wrong.push(`${route} is ${isShown ? 'shown' : 'not shown'}`);
        for (const [id, control] of Object.entries(CONTROLS) as [OperationId, Control][]) {
          const at = control.route ?? places.find(([each]) => each === id)?.[1];
          if (at?.split('?')[0] !== route) continue;
          counts.controls += 1;
          if (at !== route) await visitPage(page, consoles.pathOf(at));
          const isOffered = isOpen && (await controlOf(page, control)) !== undefined;
          if (isOffered !== mayCall(role, id))
            wrong.push(`${id} is ${isOffered ? '' : 'not '}offered on ${route}`);
        }
      }
      wrong.push(...answers.filter((answer) => /^40[13]/.test(answer)));
      test.diagnostic(
        `${counts.pages} pages, ${counts.closed} closed, ${counts.controls} controls, ${answers.length} calls; ${wrong.length} wrong`,
      );
      assert.deepEqual(wrong, []);
    });
  }

  /** Whether the API has nothing of it left: under its path, or in the list that had it. */
  const isGone = async (path: string): Promise<boolean> => {
    const { up, credentials } = consoles.world;
    const authorization = `Basic ${btoa(`${credentials.accountId}:${credentials.apiToken}`)}`;
    const read = async (at: string) => {
      const response = await fetch(up.control.baseUrl + at, { headers: { authorization } });
      return { isThere: response.ok, text: await response.text() };
    };
    const own = await read(path);
    if (own.isThere) return (JSON.parse(own.text) as { readonly totalElements?: number }).totalElements === 0;
    const [, above, last] = /^(.*)\/([^/]+)$/.exec(path)!;
    const field = FIELDS[last!];
    if (field !== undefined) return !(await read(above!)).text.includes(`"${field}"`);
    return !(await read(`${above}?size=100`)).text.includes(`"${decodeURIComponent(last!)}"`);
  };

  it('delete in the product what they name, once it is confirmed', async (test) => {
    const methods = new Map(operations.map(({ id, method }) => [id, method]));
    const all = (Object.keys(CONTROLS) as OperationId[]).filter(
      (id) => methods.get(id) === 'DELETE' && !RESETS.has(id),
    );
    assert.deepEqual(DELETIONS.toSorted(), all.toSorted());
    const { page, open, allow } = await consoles.person(test, 'operator');
    // The page of what was deleted asks once more; the last one may end the session.
    allow(/status of 40[14]/);
    await open('/activity');
    const wrong: string[] = [];
    for (const id of DELETIONS) {
      const control = CONTROLS[id]!;
      const { path } = operations.find((each) => each.id === id)!;
      const pattern = new RegExp(`/console/api(${path.replaceAll(/\{\w+\}/g, '[^/]+')})$`);
      const pathOf = (url: string) => pattern.exec(new URL(url).pathname)?.[1];
      const { promise: asked, resolve: ask } = Promise.withResolvers<boolean>();
      await page.route(
        (url) => pattern.test(url.pathname),
        async (route) => {
          if (route.request().method() !== 'DELETE') return route.fallback();
          ask(!(await isGone(pathOf(route.request().url())!)));
          return route.continue();
        },
      );
      const answered = page.waitForResponse(
        (response) => response.request().method() === 'DELETE' && pathOf(response.url()) !== undefined,
      );
      await visitPage(page, consoles.pathOf(control.route ?? places.find(([each]) => each === id)![1]));
      await (await controlOf(page, control))!.click();
      const dialog = page.getByRole('dialog');
      await dialog.waitFor();
      const [, typed] =
        /^Type (.*) to confirm$/.exec((await dialog.locator('label').allTextContents()).join()) ?? [];
      if (typed !== undefined) await dialog.getByRole('textbox').fill(typed);
      await dialog.locator('button[type=submit]').click();
      const answer = await answered;
      if (!(await asked)) wrong.push(`${id}: nothing was there before`);
      if (!answer.ok()) wrong.push(`${id}: ${answer.status()} ${await answer.text()}`);
      else if (!(await isGone(pathOf(answer.url())!))) wrong.push(`${id}: it is still there`);
      await dialog.waitFor({ state: 'detached' });
      await page.unrouteAll();
    }
    test.diagnostic(`${DELETIONS.length - wrong.length} of ${DELETIONS.length} deletions`);
    assert.deepEqual(wrong, []);
  });
});
