// Operations as people read them.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { operations } from './operation-table.ts';
import { sheetsByGroup } from './operation-sheet.ts';

const sheets = [...sheetsByGroup().values()].flat();
const sheet = (id: string) => sheets.find((each) => each.id === id)!;

suite('sheets of operations', () => {
  test('are there for every operation, in their groups', () => {
    assert.deepEqual(sheets.map(({ id }) => id).sort(), operations.map(({ id }) => id).sort());
    for (const [group, members] of sheetsByGroup()) assert.ok(members.every((each) => each.group === group));
  });

  test('list fields by their path, with ignored fields apart', () => {
    const { body, answer } = sheet('createShare');
    assert.ok(body!.ignored.includes('createdAt'));
    assert.ok(!body!.fields.some(({ path }) => body!.ignored.includes(path)));
    const target = body!.fields.find(({ path }) => path === 'target')!;
    assert.deepEqual([target.type, target.isRequired], ['string (URL)', true]);
    assert.ok(answer.fields.some(({ path, isRequired }) => path === 'failure.nextRetry' && isRequired));
    const types = new Map(sheet('listShares').answer.fields.map(({ path, type }) => [path, type]));
    assert.equal(types.get('content'), 'array of object');
    assert.equal(types.get('content[].name'), 'string or null');
    assert.equal(types.get('content[].shareMode'), 'public | private');
  });

  test('show a call that works once its variables are set', () => {
    assert.equal(
      sheet('getEnvironment').example,
      'curl -H "Authorization: Bearer $ACCESS_TOKEN" "$BASE_URL/frontdoor/$FRONTDOOR_ID/environments/$ID"',
    );
    assert.equal(
      sheet('createFrontdoor').example,
      [
        'curl -X POST',
        '-H "Authorization: Bearer $ACCESS_TOKEN"',
        "-H 'Content-Type: application/json'",
        `-d '{"name":"Example","organizationId":"5b0c2a3e-6f0f-4a5e-9d53-0f2f6d1c7a10"}'`,
        '"$BASE_URL/frontdoor"',
      ].join(' \\\n  '),
    );
    assert.match(
      sheet('issueToken').example,
      /"grant_type":"client_credentials".*\n {2}"\$AUTH_URL\/oauth\/token"$/,
    );
    assert.doesNotMatch(sheet('issueToken').example, /Authorization/);
  });
});
