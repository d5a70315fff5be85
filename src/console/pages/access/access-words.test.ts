import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessSentences } from '#contract/access-sentences';
import { accessWords } from './access-words.ts';

test('sentences about access have German and pseudo words', () => {
  const policy = {
    emails: ['*@example.com', 'ann@example.org'],
    ipDeny: ['203.0.113.0/24'],
    expiresAt: '2026-05-12T00:00:00.000Z',
    rateLimit: { requests: 5, per: 'PT1H' },
    session: { idle: 'P2D', absolute: 'P7D' },
  };
  const form = { nowMs: 0, date: () => '12.05.2026', number: String };
  const providers = [{ name: 'Google', enabled: true, hasKeys: false }];
  const textOf = (language: 'de' | 'pseudo') =>
    accessSentences(policy, providers, accessWords[language], form)
      .map(({ text }) => text)
      .join(' ');
  assert.equal(
    textOf('de'),
    'Besucher melden sich mit Google an. Nur *@example.com oder ann@example.org. Nicht aus 203.0.113.0/24. Bis 12.05.2026. Höchstens 5 Anfragen je Aufrufer, Zeitraum: 1 Stunde. Dauer einer Sitzung: höchstens 7 Tage, ohne Nutzung 2 Tage.',
  );
  assert.match(textOf('pseudo'), /^\[/);
});
