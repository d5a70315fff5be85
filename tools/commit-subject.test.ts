import assert from 'node:assert/strict';
import { it } from 'node:test';
import { subjectProblem } from './commit-subject.ts';

it('subjects of one idea in the imperative pass', () => {
  for (const subject of [
    'router/link: retry unhealthy peers on the slow schedule',
    'net, control/overlay: state the type of counts in tests of logs',
    'docs: process answers in turn',
    '.ci: feed the tests by tier',
    'Revert "net: read bare PEM"',
  ])
    assert.equal(subjectProblem(subject), undefined, subject);
});

it('other subjects are refused with what is wrong', () => {
  const refused: readonly (readonly [subject: string, problem: RegExp])[] = [
    ['net: added a test', /imperative.*"added"/],
    ['net: adds a test', /imperative.*"adds"/],
    ['net: adding a test', /imperative.*"adding"/],
    ['net: a test of names', /imperative.*"a"/],
    ['net: add a test, and mend names', /one idea/],
    ['mend names', /"part: verb what"/],
    ['net:mend names', /"part: verb what"/],
    [`net: mend ${'x'.repeat(72)}`, /has 82 characters/],
  ];
  for (const [subject, problem] of refused) assert.match(subjectProblem(subject) ?? '', problem, subject);
});
