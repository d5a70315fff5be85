import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isResourceChange } from './resource-change.ts';

const event = (action: string) => ({ action, target: { kind: 'share', id: 'app' } });

test('changes of resources are shown, and sign-ins, sessions and events without a resource are not', () => {
  const actions = ['createShare', 'deletePerson', 'enroll', 'acceptInvitation', 'replaceSharePolicy'];
  for (const action of actions) assert.ok(isResourceChange(event(action)), action);
  for (const action of ['consoleLogIn', 'logIn', 'logOut', 'issueToken', 'endConsoleSession', 'dial'])
    assert.ok(!isResourceChange(event(action)), action);
  assert.ok(!isResourceChange({ action: 'createShare', target: null }));
});
