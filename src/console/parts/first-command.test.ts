// The commands of empty lists.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstCommand } from './first-command.ts';

test('the commands of empty lists name the address of the installation as one word', () => {
  for (const kind of ['agent', 'provider', 'policy', 'domain', 'why'] as const)
    assert.match(
      firstCommand(kind, 'https://control.example.com/base'),
      / --api https:\/\/control\.example\.com\/base( |$)/,
    );
  assert.match(firstCommand('why', "https://x.example/it's"), /--api 'https:\/\/x\.example\/it'\\''s'$/);
});
