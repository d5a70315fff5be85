// What each role can do on each page of the console is what the control plane permits to it: pages, their calls, their controls.
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
  checkAuthProvider: 'It is called when the page opens; the check has no side.',
  endLoginSession: 'A visitor has to be logged in: test/console/providers.test.ts.',
  endLoginSessions: 'A visitor has to be logged in: test/console/providers.test.ts.',
  removePersonSecondFactor: 'The person needs a second factor: test/e2e/console-second-factor.test.ts.',
  inspectRouters: 'It changes nothing, and only operators see its page.',
  endCircuit: 'A circuit has to be open.',
};

const mayCall = (role: Role, id: OperationId): boolean => {
  const [needs] = AUTHORIZATION_RULES[id];
  return needs === 'nothing' || SCOPES_OF_ROLES[role].includes(`frontdoor.${needs}`);
};

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
        const refusal = isOpen ? 'Your role does not permit to see this page.' : 'Your role does not permit';
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
});
