// Operations whose response has a secret need a recent log-in. Which these are is read from the schemas of responses.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TSchema } from 'typebox';
import { operations, type OperationId } from './operation-table.ts';
import { needsRecentLogIn } from './recent-log-in-table.ts';

/** Words of names that a secret may have. */
const SECRET = /token|secret|code|link|password|jwt|key|picture|data$/i;
/** Names with such a word that are no secret. `token` is the name of a share, `code` that of an error, `keyId` names a key. */
const HARMLESS =
  /^(shareToken|tokenExchange|token_type|previous(Token|Secret)Until|hasSecret|secondFactor|recoveryCodesLeft|failureCode|keyId|links|link(Listeners|Ids))$/;
const OF_SHARES: ReadonlySet<string> = new Set<OperationId>([
  ...(['listShares', 'createShare', 'getShare', 'changeShare'] as const),
  ...(['getAgentStatus', 'getAuthProviderUses', 'listPolicyWarnings'] as const),
  ...(['getPolicyUses', 'comparePolicy', 'getBusiestShares', 'getFrontdoorAttention'] as const),
]);
/** The stored data of a provider, and the users of a policy, have masks instead of secrets; the rest are codes of errors and what messages report. */
const MASKED: ReadonlySet<string> = new Set<OperationId>([
  ...(['getAuthProvider', 'getSharePolicy', 'replaceSharePolicy'] as const),
  ...(['listFailures', 'listFailureGroups', 'getFailure', 'getUnroutedFailure'] as const),
  ...(['createPolicy', 'getPolicy', 'replacePolicy'] as const),
  ...(['listInspectedRequests', 'getInspectedRequest', 'listRequests', 'getRequest'] as const),
  ...(['listNotificationDeliveries', 'retryNotificationDelivery'] as const),
]);

type Schema = TSchema & { readonly properties?: Record<string, Schema>; readonly items?: Schema };

function fieldsOf(schema: Schema | undefined): string[] {
  if (schema === undefined) return [];
  const own = Object.entries(schema.properties ?? {});
  return [...own.flatMap(([name, field]) => [name, ...fieldsOf(field)]), ...fieldsOf(schema.items)];
}

describe('operations whose response has a secret', () => {
  it('name it, as far as their schemas show secrets', () => {
    const unnamed = operations.flatMap(({ id, answer }) => {
      if (answer.secret !== undefined || OF_SHARES.has(id) || MASKED.has(id)) return [];
      const fields = fieldsOf(answer.schema);
      return fields
        .filter((name) => SECRET.test(name) && !HARMLESS.test(name))
        .map((name) => `${id}.${name}`);
    });
    assert.deepEqual(unnamed, [], 'use `showing` for a secret, or add the field to the exceptions');
  });

  it('name a field of the response', () => {
    for (const { id, answer } of operations) {
      if (answer.secret === undefined || answer.secret === 'body') continue;
      assert.ok(fieldsOf(answer.schema).includes(answer.secret), id);
    }
  });

  it('need a recent log-in', () => {
    const shown = operations.filter(({ answer }) => answer.secret !== undefined);
    assert.ok(shown.length >= 15);
    for (const operation of shown) assert.ok(needsRecentLogIn(operation), operation.id);
    // An operator who grants a name hands it to one organization, without a proof.
    assert.ok(needsRecentLogIn(operations.find(({ id }) => id === 'grantHostname')!));
    const others: OperationId[] = ['createShare', 'changeShare', 'deleteInvitation', 'endConsoleSession'];
    for (const id of others) assert.ok(!needsRecentLogIn(operations.find((one) => one.id === id)!), id);
  });
});
