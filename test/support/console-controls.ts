/** The controls of the console that begin each change, for tests that use all of them: which roles have them, and what refusals do. */
import type { Locator, Page } from 'playwright-core';
import type { OperationId } from '#contract';
import { entryOf, rowMenu } from './row-menu.ts';

/** Where an operation happens, as the console's place table has it. */
type Place = { readonly page: string } | { readonly noPage: string };

const FD = '/frontdoors/$frontdoorId';

export interface Control {
  readonly name: string | RegExp;
  /** What someone types before the control can be used. */
  readonly typed?: readonly [label: string, value: string];
  /** A choice that someone makes before that. */
  readonly chosen?: string;
  /** A rule that someone adds before that. */
  readonly added?: string;
  /** A box that someone checks before. */
  readonly checked?: RegExp;
  /** Whether it is an entry of the menu of a row. */
  readonly isInMenu?: boolean;
  /** The page that has the control, if it is another than that of the operation; it may have a query. */
  readonly route?: string;
}

/** The control that begins each change, on the page that the place table names. */
export const CONTROLS: Partial<Record<OperationId, Control>> = {
  createFrontdoor: { name: 'New frontdoor' },
  changeFrontdoor: { name: 'Rename', isInMenu: true },
  deleteFrontdoor: { name: 'Delete', isInMenu: true },
  changeEnvironment: { name: 'Rename' },
  deleteEnvironment: { name: 'Delete' },
  createEnrollment: { name: 'Add an agent', route: `${FD}/agents` },
  cancelEnrollment: { name: /^Revoke code/ },
  createShare: { name: 'Publish a service', route: `${FD}/shares` },
  changeShare: { name: 'Save', typed: ['Service address', 'http://127.0.0.1:7'] },
  deleteShare: { name: 'Delete this share' },
  changeShareUpstream: {
    name: 'Save',
    typed: ['Host', 'localhost'],
    chosen: 'Another host',
  },
  addShareDomain: { name: 'Add domain', typed: ['Domain', 'second.filled.example'] },
  removeShareDomain: { name: /^Remove: / },
  resetShareUpstream: { name: 'Use the defaults' },
  replaceSharePolicy: { name: 'Review and save', added: 'Contact', typed: ['Contact', 'ann@example.com'] },
  createPolicy: { name: 'New policy', route: `${FD}/policies` },
  replacePolicy: { name: 'Review and save', typed: ['Name', 'another'] },
  deletePolicy: { name: 'Delete this policy' },
  createCustomFrontend: { name: 'Add custom domain', route: `${FD}/domains` },
  changeCustomFrontend: { name: 'Save sign-in providers', checked: /provider/ },
  deleteCustomFrontend: { name: 'Delete this domain' },
  setInspector: { name: 'Stop recording' },
  setRequestLog: { name: 'Log settings' },
  deleteInspectedRequests: { name: 'Delete recorded requests' },
  replayInspectedRequest: { name: 'Edit and replay' },
  createAuthProvider: { name: 'Add sign-in provider', route: `${FD}/providers` },
  checkAuthProviderDraft: { name: 'Test before saving', route: `${FD}/providers/new?type=OIDC` },
  changeAuthProvider: { name: 'Disable' },
  deleteAuthProvider: { name: 'Delete this provider' },
  explainShareAccess: { name: 'Test' },
  createOrganization: { name: 'New organization' },
  changeOrganization: { name: 'Rename', typed: ['Name', 'another'] },
  deleteOrganization: { name: /^Delete/ },
  replaceSignInPage: { name: 'Save sign-in pages', typed: ['Name on the page', 'Example'] },
  changeOrganizationSettings: { name: 'Save', checked: /tokens of trusted issuers/ },
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
  deletePerson: { name: 'Remove person' },
  createPasswordLink: { name: 'New password' },
  createInvitation: { name: 'Invite a person' },
  deleteInvitation: { name: /^Revoke/ },
  endConsoleSession: { name: /^End/ },
  endOtherConsoleSessions: { name: 'Sign out of all other browsers' },
  createConsoleLogIn: { name: /^Add/ },
  createNotificationDestination: { name: 'Add a webhook' },
  changeNotificationDestination: { name: 'Save', typed: ['Name', 'another'] },
  rotateNotificationSecret: { name: 'Rotate secret' },
  testNotificationDestination: { name: 'Send test message' },
  deleteNotificationDestination: { name: 'Delete webhook' },
  setEventExport: { name: 'Save', typed: ['Collector URL', 'https://collector.filled.example/other'] },
  testEventExport: { name: 'Send test event' },
  deleteEventExport: { name: 'Stop event export' },
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
  endPreviousToken: { name: 'Revoke previous secret' },
  endPreviousSecret: { name: 'Revoke previous secret' },
  deleteConsoleLogIn: { name: /^End sign-ins with this provider/ },
  releaseRestingName: { name: /^Release: / },
  grantHostname: { name: /^Approve: / },
};

/** The operations that have a page, with its route. */
export async function loadPlaces(): Promise<readonly (readonly [OperationId, string])[]> {
  const path = new URL('../../src/console/place-table.ts', import.meta.url).href;
  const { PLACES } = (await import(path)) as { readonly PLACES: Readonly<Record<OperationId, Place>> };
  return Object.entries(PLACES).flatMap(([id, place]) =>
    'page' in place ? [[id as OperationId, place.page] as const] : [],
  );
}

/** The control of a page, after what has to be typed before; undefined if the page does not offer it. */
export async function controlOf(page: Page, control: Control): Promise<Locator | undefined> {
  const { name, typed, chosen, added, checked, isInMenu = false } = control;
  const main = page.locator('main');
  if (isInMenu) {
    if ((await rowMenu(page).count()) === 0) return undefined;
    const entry = await entryOf(page, name);
    return (await entry.getAttribute('data-disabled')) === null ? entry : undefined;
  }
  if (chosen !== undefined) {
    const choice = main.getByRole('radio', { name: chosen });
    if ((await choice.count()) === 0 || (await choice.isDisabled())) return undefined;
    await choice.check();
  }
  if (added !== undefined) {
    const rules = main.getByLabel('Add rule');
    if ((await rules.count()) === 0) return undefined;
    await rules.selectOption(added);
  }
  if (typed !== undefined) {
    const field = main.getByRole('textbox', { name: typed[0], exact: true }).first();
    if ((await field.count()) === 0 || (await field.isDisabled())) return undefined;
    await field.fill(typed[1]);
  }
  if (checked !== undefined) {
    const box = main
      .getByRole('checkbox', { name: checked })
      .or(main.getByRole('switch', { name: checked }))
      .first();
    if ((await box.count()) === 0 || (await box.isDisabled())) return undefined;
    await box.click();
  }
  const found = main
    .getByRole('button', { name, exact: true })
    .or(main.getByRole('link', { name, exact: true }))
    .first();
  return (await found.count()) > 0 && (await found.isEnabled()) ? found : undefined;
}
