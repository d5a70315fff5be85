/** How a person does each task of the first day, from the overview on, until the page shows that it is done. */
import type { CountedHands } from './counted-hands.ts';
import type { FirstDay } from './first-day-world.ts';

interface FirstDayTask {
  readonly task: string;
  readonly run: (hands: CountedHands, day: FirstDay) => Promise<void>;
}

const SAVED = 'Saved. Changes take effect within seconds.';

async function openShare(hands: CountedHands, name: string, page: string): Promise<void> {
  await hands.find(name);
  await hands.link(page);
}

async function reviewed(hands: CountedHands): Promise<void> {
  await hands.button('Review and save');
  await hands.confirm('Save');
  await hands.page.getByText(SAVED).first().waitFor();
}

export const FIRST_DAY_TASKS: readonly FirstDayTask[] = [
  {
    task: 'Add an agent',
    run: async (hands) => {
      await hands.navigate('Agents');
      await hands.link('Add an agent');
      await hands.type('Name', 'office server');
      await hands.button('Create code');
      await hands.page.getByText('Waiting for the agent…').waitFor();
    },
  },
  {
    task: 'Publish a service',
    run: async (hands, { port }) => {
      await hands.navigate('Shares');
      await hands.link('Publish a service');
      await hands.choose('Agent next to the service', 'laptop');
      await hands.type('Service address', String(port));
      await hands.button('Next');
      await hands.type('Name', 'shop');
      await hands.button('Next');
      await hands.click(hands.page.getByLabel('Everyone, without authentication'));
      await hands.button('Publish');
      await hands.page.getByText('Your service is reachable.').waitFor();
    },
  },
  {
    task: 'Add a sign-in provider',
    run: async (hands) => {
      await hands.navigate('Sign-in providers');
      await hands.link('Add sign-in provider');
      await hands.link('OpenID Connect');
      await hands.type('Name', 'our people');
      await hands.type('Issuer', 'https://login.first-day.example');
      await hands.type('Client ID', 'console');
      await hands.type(/^Client secret/, 'secret of the first day');
      await hands.button('Create');
      await hands.page.getByRole('heading', { level: 1, name: 'our people' }).waitFor();
    },
  },
  {
    task: 'Protect a share with a sign-in provider',
    run: async (hands) => {
      await openShare(hands, 'wiki', 'Access');
      await hands.click(hands.page.getByLabel('company keys'));
      await reviewed(hands);
    },
  },
  {
    task: 'Admit only the office network to a share',
    run: async (hands) => {
      await openShare(hands, 'wiki', 'Access');
      await hands.choose('Add rule', 'Allowed networks');
      await hands.type('Allowed networks', '203.0.113.0/24');
      await reviewed(hands);
    },
  },
  {
    task: 'Let a machine reach a private share',
    run: async (hands) => {
      await openShare(hands, 'database', 'Access');
      await hands.click(hands.page.getByLabel('stolen notebook'));
      await hands.button('Save');
      await hands.page.getByText(SAVED).waitFor();
    },
  },
  {
    task: 'Add a custom domain',
    run: async (hands) => {
      await hands.navigate('Custom domains');
      await hands.link('Add custom domain');
      await hands.type('Domain', 'apps.first-day.example');
      await hands.button('Add domain');
      await hands.page.getByRole('heading', { level: 1, name: 'apps.first-day.example' }).waitFor();
    },
  },
  {
    task: 'Find a share by its target',
    run: async (hands) => {
      await hands.find('10.7.3.4');
      await hands.page.getByRole('heading', { level: 1, name: 'billing' }).waitFor();
    },
  },
  {
    task: 'Move a share to another target',
    run: async (hands, { port }) => {
      await openShare(hands, 'billing', 'Settings');
      await hands.type('Service address', String(port));
      await hands.button('Save');
      await hands.page.getByText('Saved.').waitFor();
    },
  },
  {
    task: 'Disable a share',
    run: async (hands) => {
      await hands.navigate('Shares');
      await hands.click(hands.page.getByRole('checkbox', { name: 'Select intranet', exact: true }));
      await hands.button('Disable');
      await hands.confirm('Disable');
      await hands.click(hands.page.getByRole('dialog').getByRole('button', { name: 'Close' }).last());
      await hands.page
        .getByRole('row', { name: /intranet/ })
        .getByText('Closed', { exact: true })
        .waitFor();
    },
  },
  {
    task: 'Delete a share',
    run: async (hands) => {
      await openShare(hands, 'trial', 'Settings');
      await hands.button('Delete this share');
      await hands.type('Type trial to confirm', 'trial');
      await hands.confirm('Delete');
      await hands.page.getByRole('heading', { level: 1, name: 'Shares' }).waitFor();
    },
  },
  {
    task: 'See the traffic of 24 hours by share',
    run: async (hands) => {
      await hands.click(hands.page.getByText('24 h', { exact: true }));
      await hands.page.waitForURL(/range=24h/);
    },
  },
  {
    task: 'Learn why a visitor got a 403',
    run: async (hands, { errorId }) => {
      await hands.find(errorId);
      await hands.page.getByText('the network of the client is denied').first().waitFor();
    },
  },
  {
    task: 'Check whether a person may open a share',
    run: async (hands) => {
      await openShare(hands, 'wiki', 'Access');
      await hands.choose('Sender', 'A person who is signed in');
      await hands.type('Email address', 'ann@example.com');
      await hands.button('Test');
      await hands.page.getByRole('heading', { level: 3, name: 'Decision' }).waitFor();
    },
  },
  {
    task: 'Record the requests of a share',
    run: async (hands) => {
      await openShare(hands, 'shop', 'Requests');
      await hands.button('Record requests');
      await hands.page.getByText('Requests are being recorded until').waitFor();
    },
  },
  {
    task: 'Find out who deleted a share',
    run: async (hands) => {
      await hands.find('old-shop');
      // The row has the actor, too.
      await hands.page.getByRole('row', { name: /Delete share.*old-shop/ }).waitFor();
    },
  },
  {
    task: 'Revoke an agent',
    run: async (hands) => {
      await hands.find('stolen notebook');
      await hands.button('Delete');
      await hands.type('Type stolen notebook to confirm', 'stolen notebook');
      await hands.confirm('Delete');
      await hands.page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor();
    },
  },
  {
    task: 'Invite a person',
    run: async (hands) => {
      await hands.find('invite');
      await hands.type('Name', 'Carol');
      await hands.confirm('Invite a person');
      await hands.page
        .getByRole('dialog')
        .getByText(/\/console\/welcome#/)
        .waitFor();
      await keepSecret(hands);
    },
  },
  {
    task: 'Change the role of a person',
    run: async (hands, { reader }) => {
      await hands.find(reader);
      await hands.choose(/^Role/, 'Editor');
      await hands.button('Save');
      await hands.page.getByText('Saved.').waitFor();
    },
  },
  {
    task: 'Create an API account for a script',
    run: async (hands) => {
      await hands.find('new api account');
      await hands.type('Name', 'nightly report');
      await hands.confirm('Create');
      await hands.page.getByText('API account created').waitFor();
      await keepSecret(hands);
    },
  },
  {
    task: 'Rotate a token',
    run: async (hands) => {
      await hands.find('deploy script');
      await hands.button('Rotate');
      await hands.confirm('Rotate');
      await hands.page.getByRole('dialog', { name: 'New secret' }).waitFor();
      await keepSecret(hands);
    },
  },
  {
    task: 'Download a backup',
    run: async (hands) => {
      await hands.find('backup');
      const download = hands.page.waitForEvent('download');
      await hands.button('Download backup');
      await (await download).cancel();
    },
  },
  {
    task: 'See which router carries the traffic',
    run: async (hands) => {
      await hands.navigate('Mesh');
      await hands.link('Circuits');
      await hands.page.getByRole('heading', { level: 1 }).waitFor();
    },
  },
  {
    task: 'Read the console in German',
    run: async (hands) => {
      await hands.click(hands.page.locator('header button').last());
      await hands.click(hands.page.getByRole('menuitem', { name: 'Deutsch' }));
      await hands.page.getByRole('heading', { level: 1, name: 'Übersicht' }).waitFor();
      await hands.page.evaluate(`localStorage.setItem('frontdoor-language', 'en')`);
      await hands.page.reload();
      await hands.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    },
  },
  {
    task: 'Sign out in every browser',
    run: async (hands) => {
      await hands.find('log out everywhere');
      await hands.click(hands.page.getByRole('button', { name: 'Sign out of all other browsers' }));
      await hands.confirm('Sign out of all other browsers');
      await hands.page.getByText('You had no other sessions.').waitFor();
    },
  },
];

/** It is shown once: two clicks to leave it. */
async function keepSecret(hands: CountedHands): Promise<void> {
  await hands.click(hands.page.getByLabel('I have stored it'));
  await hands.click(hands.page.getByRole('dialog').getByRole('button', { name: 'Close' }).last());
  await hands.page.getByRole('dialog').waitFor({ state: 'detached' });
}
