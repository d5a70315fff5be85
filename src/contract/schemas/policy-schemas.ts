/** Schemas of shared policies: rules of access with a name, which shares of a frontdoor use instead of rules of their own. */
import { Type } from '#base/shapes';
import { closed, nameText, readOnly, timestamp, uuid } from '../schema-parts.ts';
import { policyComparisonSchema, sharePolicyReplacementSchema, sharePolicySchema } from './access-schemas.ts';

const { warnings: _share, ...ruleFields } = sharePolicyReplacementSchema.properties;
const { warnings: _shown, ...storedFields } = sharePolicySchema.properties;

const readOnlyOfPolicies = () => ({ id: readOnly(), shareCount: readOnly(), createdAt: readOnly() });
const shareCount = () => Type.Integer({ description: 'Number of shares that use it' });

export const newPolicySchema = closed({ name: nameText(), ...ruleFields, ...readOnlyOfPolicies() });

/** An absent rule gets its default; an absent name stays. */
export const policyReplacementSchema = closed({
  name: Type.Optional(nameText()),
  ...ruleFields,
  ...readOnlyOfPolicies(),
});

export const policySchema = closed({
  id: uuid(),
  name: Type.String(),
  ...storedFields,
  shareCount: shareCount(),
  createdAt: timestamp(),
});

export const policyEntrySchema = closed({
  id: uuid(),
  name: Type.String(),
  shareCount: shareCount(),
  createdAt: timestamp(),
});

export const policyUsesSchema = closed({
  shares: Type.Array(closed({ token: Type.String(), environmentId: Type.String() }), {
    description: 'The first 100 shares that use it, by token',
  }),
  shareCount: shareCount(),
});

export const policyRulesSchema = closed(ruleFields);

export const policyUseComparisonSchema = closed({
  shareCount: shareCount(),
  comparedShares: Type.Integer({
    description: 'Number of those shares whose latest requests were compared, at most 25',
  }),
  compared: policyComparisonSchema.properties.compared,
  unknown: policyComparisonSchema.properties.unknown,
  shares: Type.Array(
    closed({ token: Type.String({ description: 'The share' }), ...policyComparisonSchema.properties }),
    { description: 'The compared shares of which requests are decided differently, by token' },
  ),
});
