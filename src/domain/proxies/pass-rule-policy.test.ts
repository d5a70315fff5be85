import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePassRule, passRuleFor, type PassRule } from './pass-rule-policy.ts';

const rules = [
  'edge.example=10.0.0.5:443',
  '/ziti-edge=10.0.0.6:3022',
  'berlin.example/ziti-edge=[fd00::7]:3022',
].map((text) => parsePassRule(text)!);
const portOf = (rule: PassRule | undefined) => rule && `${rule.host} ${rule.port}`;
const of = (serverName: string | undefined, ...protocols: string[]) =>
  portOf(passRuleFor(rules, { serverName, protocols: protocols.length === 0 ? undefined : protocols }));

test('the rule about most of what a client asks for decides', () => {
  assert.equal(of('Edge.example.', 'http/1.1'), '10.0.0.5 443');
  assert.equal(of('edge.example'), '10.0.0.5 443');
  assert.equal(of('edge.example', 'ziti-edge'), '10.0.0.6 3022');
  assert.equal(of('berlin.example', 'ziti-edge'), 'fd00::7 3022');
});

test('what no rule is about stays at the gateway', () => {
  assert.equal(of('app.example', 'h2'), undefined);
  assert.equal(of('below.edge.example', 'h2'), undefined);
  assert.equal(of(undefined), undefined);
  assert.equal(passRuleFor(rules, undefined), undefined);
});

test('a rule names its destination, and no protocol of browsers', () => {
  for (const text of [
    ...['', '=10.0.0.5:443', 'edge.example', 'edge.example=', 'edge.example=10.0.0.5', '*.example=h:1'],
    ...['/h2=10.0.0.5:443', 'a.example/http/1.1=h:1', 'a.example=h:0', 'a.example=h:99999', 'a b=h:1'],
  ])
    assert.equal(parsePassRule(text), undefined, text);
});
