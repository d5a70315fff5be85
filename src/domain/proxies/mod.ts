/** Proxies in front of our servers: whose reports about clients count, and what these reports mean. */
export {
  forwardedAddress,
  forwardedAddresses,
  isTrustedProxy,
  parseTrustedProxies,
} from './trusted-proxy-policy.ts';
export {
  MAX_PASS_RULES,
  parsePassRule,
  PASS_RULE_FORM,
  passRuleFor,
  type PassRule,
} from './pass-rule-policy.ts';
export { readForwarding } from './forwarding-policy.ts';
