// Two people change one resource: what the first is typing stays, the second person's change is reported and not overwritten, and
// both changes can be kept. Every form of the console that changes a resource.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { browserSkip } from '../support/browser.ts';
import { startFilledConsole, type FilledConsole } from '../support/filled-console.ts';
import { entryOf } from '../support/row-menu.ts';

interface EditedForm {
  readonly route: string;
  /** Opens the dialog that has the form. Nothing changes under an open dialog, so there is no notice before it is sent. */
  readonly open?: (page: Page) => Promise<void>;
  /** Shows the field. */
  readonly begin?: (page: Page) => Promise<unknown>;
  /** The field in which one person types, by its label. */
  readonly field: string;
  readonly values?: readonly [mine: string, theirs: string];
  readonly save: string;
  /** A second step, after `save`. */
  readonly confirm?: string;
}

const byButton =
  (name: string) =>
  (page: Page): Promise<void> =>
    page.getByRole('button', { name, exact: true }).first().click();

const FD = '/frontdoors/$frontdoorId';
const FORMS: Readonly<Record<string, EditedForm>> = {
  router: {
    route: '/mesh/routers/$routerId',
    field: 'Role attributes, separated by commas',
    values: ['mine', 'theirs'],
    save: 'Save',
  },
  service: { route: '/mesh/services/$serviceId', field: 'Name', save: 'Save' },
  terminator: {
    route: '/mesh/terminators/$terminatorId',
    field: 'Cost',
    values: ['7', '9'],
    save: 'Save',
  },
  person: { route: '/settings/people/$personId', field: 'Name', save: 'Save' },
  organization: { route: '/settings/organization', field: 'Name', save: 'Rename' },
  'API account': {
    route: '/settings/accounts/$accountId',
    open: byButton('Rename'),
    field: 'Name',
    save: 'Rename',
  },
  'OAuth client': {
    route: '/settings/clients/$clientId',
    open: byButton('Rename'),
    field: 'Name',
    save: 'Rename',
  },
  frontdoor: {
    route: '/settings/frontdoors',
    open: async (page) => (await entryOf(page, 'Rename')).click(),
    field: 'Name',
    save: 'Rename',
  },
  agent: { route: `${FD}/agents/$environmentId`, open: byButton('Rename'), field: 'Name', save: 'Save' },
  provider: { route: `${FD}/providers/$providerId`, field: 'Name', save: 'Save changes' },
  'settings of a share': {
    route: `${FD}/shares/$token/settings`,
    field: 'Service address',
    values: ['http://127.0.0.1:8', 'http://127.0.0.1:9'],
    save: 'Save',
  },
  'policy of a share': {
    route: `${FD}/shares/$token/access`,
    begin: (page) => page.getByLabel('Add rule').selectOption('Contact'),
    field: 'Contact',
    values: ['mine@example.com', 'theirs@example.com'],
    save: 'Review and save',
    confirm: 'Save',
  },
};

describe('forms of the console', { skip: browserSkip }, () => {
  let consoles: FilledConsole;
  before(async () => {
    consoles = await startFilledConsole();
  });
  after(() => consoles?.close());

  it('keep what one person types while another changes the same, and overwrite nothing unasked', async (test) => {
    const mine = await consoles.person(test, 'operator');
    const theirs = await consoles.person(test, 'operator');
    mine.allow(/status of 412/);
    let count = 0;
    for (const [name, form] of Object.entries(FORMS)) {
      const [typed, changed] = form.values ?? [`my ${name}`, `their ${name}`];
      for (const { page, open } of [mine, theirs]) {
        await open(consoles.pathOf(form.route));
        await form.open?.(page);
        await form.begin?.(page);
        await fieldOf(page, form).waitFor();
      }
      await fieldOf(mine.page, form).fill(typed);
      await fieldOf(theirs.page, form).fill(changed);
      await send(theirs.page, form);
      if (form.open === undefined) {
        await theirs.page.getByText(/^Saved\./).waitFor();
        await mine.page.getByText('Someone else has changed this while you were editing.').waitFor();
      } else {
        await theirs.page.getByRole('dialog').waitFor({ state: 'detached' });
      }
      assert.equal(await fieldOf(mine.page, form).inputValue(), typed, name);
      await send(mine.page, form);
      await mine.page.getByText('Your changes were not saved.').waitFor();
      assert.equal(await fieldOf(mine.page, form).inputValue(), typed, name);
      await mine.page.getByRole('button', { name: 'Keep my changes' }).click();
      await mine.page.getByText('Your changes were not saved.').waitFor({ state: 'detached' });
      assert.equal(await fieldOf(mine.page, form).inputValue(), typed, name);
      await send(mine.page, form);
      if (form.open === undefined) await mine.page.getByText(/^Saved\./).waitFor();
      else await mine.page.getByRole('dialog').waitFor({ state: 'detached' });
      count += 1;
    }
    test.diagnostic(`${count} of ${Object.keys(FORMS).length} forms`);
  });

  it('keep what is chosen in lists and switches, too', async (test) => {
    const { page, open } = await consoles.person(test, 'operator');
    const { ids, api, pathOf } = consoles;
    const base = `/frontdoor/${ids['frontdoorId']!}`;
    const authProviderIds = [ids['providerId']!];
    const forms = [
      {
        route: `${FD}/shares/$token/access`,
        chosen: /provider/,
        save: 'Review and save',
        confirm: 'Save',
        change: () => api('PATCH', `${base}/shares/app`, { target: 'http://127.0.0.1:10' }),
      },
      {
        route: `${FD}/domains/$domainId`,
        chosen: /provider/,
        save: 'Save sign-in providers',
        change: () => api('PATCH', `${base}/custom-frontends/${ids['domainId']!}`, { authProviderIds }),
      },
      {
        route: `${FD}/shares/secret/access`,
        chosen: /agent/,
        save: 'Save',
        change: () => api('PATCH', `${base}/shares/secret`, { target: 'http://127.0.0.1:10' }),
      },
      {
        route: '/settings/organization',
        chosen: /tokens of trusted issuers/,
        save: 'Save',
        change: () =>
          api('PATCH', `/organizations/${consoles.world.credentials.organizationId}/settings`, {
            tokenExchange: true,
          }),
      },
    ] as const;
    for (const { route, chosen, change, ...form } of forms) {
      await open(pathOf(route));
      const choice = page
        .getByRole('checkbox', { name: chosen })
        .or(page.getByRole('switch', { name: chosen }));
      await choice.click();
      await change();
      await page.getByText('Someone else has changed this while you were editing.').waitFor();
      assert.equal(await choice.isChecked(), true, route);
      await page.getByRole('button', { name: 'Keep my changes' }).click();
      await page
        .getByText('Someone else has changed this while you were editing.')
        .waitFor({ state: 'detached' });
      assert.equal(await choice.isChecked(), true, route);
      await send(page, form);
      await page.getByText(/^Saved\./).waitFor();
    }
  });

  it('take over the fields of others beside what was typed', async (test) => {
    const { page, open } = await consoles.person(test, 'operator');
    const path = `/fabric/services/${consoles.ids['serviceId']!}`;
    await open(consoles.pathOf('/mesh/services/$serviceId'));
    await page.getByRole('textbox', { name: 'Name' }).fill('both');
    await consoles.api('PATCH', path, { terminatorStrategy: 'random' });
    await page.getByRole('button', { name: 'Keep my changes' }).click();
    await page.locator('select:has(option[value="random"]:checked)').waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved.').waitFor();
    const { name, terminatorStrategy } = await consoles.api('GET', path);
    assert.deepEqual({ name, terminatorStrategy }, { name: 'both', terminatorStrategy: 'random' });
  });
});

function fieldOf(page: Page, { field, open }: EditedForm) {
  const place = open === undefined ? page.locator('main') : page.getByRole('dialog');
  return place.getByRole('textbox', { name: field, exact: true }).first();
}

async function send(
  page: Page,
  { save, confirm, open }: Pick<EditedForm, 'save' | 'confirm' | 'open'>,
): Promise<void> {
  const place = open === undefined ? page.locator('main') : page.getByRole('dialog');
  await place.getByRole('button', { name: save, exact: true }).click();
  if (confirm !== undefined)
    await page.getByRole('dialog').getByRole('button', { name: confirm, exact: true }).click();
}
