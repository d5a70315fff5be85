// What each role can do on each page of the console is what the control plane permits to it: pages, their calls, their controls.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { operations, type OperationId } from '#contract';
import { ROLES, type Role } from '#domain';
import { AUTHORIZATION_RULES, SCOPES_OF_ROLES } from '../conformance/authorization-rule-table.ts';
import { browserSkip } from '../support/browser.ts';
import { visitPage } from '../support/console-visits.ts';
import { routesOf, startFilledConsole, type FilledConsole } from '../support/filled-console.ts';

type Place = { readonly page: string } | { readonly noPage: string };

const FD = '/frontdoors/$frontdoorId';

interface Control {
  readonly name: string | RegExp;
  /** What somebody types before the control can be used. */
  readonly typed?: readonly [label: string, value: string];
  /** A box that somebody checks before. */
  readonly checked?: RegExp;
  /** The page that has the control, if it is another than that of the operation. */
  readonly route?: string;
}

/** The control that begins each change, on the page that the place table names. */
const CONTROLS: Partial<Record<OperationId, Control>> = {
  createFrontdoor: { name: 'New frontdoor' },
  changeFrontdoor: { name: /^Rename: / },
  deleteFrontdoor: { name: /^Delete: / },
  changeEnvironment: { name: 'Rename' },
  deleteEnvironment: { name: 'Delete' },
  createEnrollment: { name: 'Add an agent', route: `${FD}/agents` },
  cancelEnrollment: { name: /^Cancel/ },
  createShare: { name: 'Publish a service', route: `${FD}/shares` },
  changeShare: { name: 'Save', typed: ['Address of the service', 'http://127.0.0.1:7'] },
  deleteShare: { name: 'Delete this share' },
  replaceSharePolicy: { name: 'Review and save', typed: ['Contact', 'ann@example.com'] },
  createCustomFrontend: { name: 'New domain', route: `${FD}/domains` },
  changeCustomFrontend: { name: 'Save log-ins', checked: /provider/ },
  deleteCustomFrontend: { name: 'Delete this domain' },
  setInspector: { name: 'Stop recording' },
  deleteInspectedRequests: { name: 'Delete the recorded requests' },
  replayInspectedRequest: { name: 'Change and send again' },
  createAuthProvider: { name: 'New log-in', route: `${FD}/providers` },
  changeAuthProvider: { name: 'Turn off' },
  deleteAuthProvider: { name: 'Delete this log-in' },
  explainShareAccess: { name: 'Ask' },
  createOrganization: { name: 'New organization' },
  changeOrganization: { name: 'Rename', typed: ['Name', 'another'] },
  deleteOrganization: { name: /^Delete/ },
  changeOrganizationSettings: { name: 'Save', checked: /exchange their tokens/ },
  createApiAccount: { name: 'New API account' },
  changeApiAccount: { name: 'Rename' },
  rotateApiAccount: { name: /^Rotate/ },
  deleteApiAccount: { name: 'Revoke' },
  createOauthClient: { name: 'New OAuth client' },
  changeOauthClient: { name: 'Rename' },
  rotateOauthClient: { name: /^Rotate/ },
  deleteOauthClient: { name: 'Revoke' },
  rotateSigningKey: { name: /^Rotate/ },
  verifyAuditEvents: { name: 'Verify' },
  getBackup: { name: /^Download/ },
  changePerson: { name: 'Save', typed: ['Name', 'another'] },
  deletePerson: { name: 'Remove the person' },
  createInvitation: { name: 'Invite a person' },
  deleteInvitation: { name: /^Withdraw/ },
  endConsoleSession: { name: /^End/ },
  createConsoleLogIn: { name: /^Add/ },
  createRouter: { name: 'New router' },
  changeRouter: { name: 'Save', typed: ['Role attributes, separated by commas', 'a'] },
  deleteRouter: { name: 'Delete' },
  createGateway: { name: 'New gateway' },
  deleteGateway: { name: 'Delete' },
  createFabricService: { name: 'New service' },
  changeFabricService: { name: 'Save', typed: ['Name', 'another'] },
  deleteFabricService: { name: 'Delete' },
  createTerminator: { name: 'New terminator' },
  changeTerminator: { name: 'Save', typed: ['Cost', '5'] },
  deleteTerminator: { name: 'Delete' },
};

/** Changes whose control is there only for something that this world does not have, or stands in the dialog of another one. */
const WITHOUT_CONTROL: Partial<Record<OperationId, string>> = {
  compareSharePolicy: 'The control of replaceSharePolicy begins it.',
  checkAuthProvider: 'It is called when the page opens; the check has no side.',
  endLoginSession: 'A visitor has to be logged in: test/console/providers.test.ts.',
  endLoginSessions: 'A visitor has to be logged in: test/console/providers.test.ts.',
  endPreviousToken: 'The token has to be rotated.',
  endPreviousSecret: 'The secret has to be rotated.',
  removePersonSecondFactor: 'The person needs a second factor: test/e2e/console-second-factor.test.ts.',
  deleteConsoleLogIn: 'A log-in has to be added.',
  releaseRestingName: 'Something has to be deleted.',
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
    const path = new URL('../../src/console/place-table.ts', import.meta.url).href;
    const { PLACES } = (await import(path)) as { readonly PLACES: Readonly<Record<OperationId, Place>> };
    places = Object.entries(PLACES).flatMap(([id, place]) =>
      'page' in place ? [[id as OperationId, place.page] as const] : [],
    );
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
          if (at !== route) continue;
          counts.controls += 1;
          const isOffered = isOpen && (await offers(page, control));
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

/** Whether the control is there and can be used, after what has to be typed before. */
async function offers(page: Page, { name, typed, checked }: Control): Promise<boolean> {
  const main = page.locator('main');
  if (typed !== undefined) {
    const field = main.getByRole('textbox', { name: typed[0], exact: true }).first();
    if ((await field.count()) === 0 || (await field.isDisabled())) return false;
    await field.fill(typed[1]);
  }
  if (checked !== undefined) {
    const box = main
      .getByRole('checkbox', { name: checked })
      .or(main.getByRole('switch', { name: checked }))
      .first();
    if ((await box.count()) === 0 || (await box.isDisabled())) return false;
    await box.click();
  }
  const control = main
    .getByRole('button', { name, exact: true })
    .or(main.getByRole('link', { name, exact: true }))
    .first();
  return (await control.count()) > 0 && (await control.isEnabled());
}
