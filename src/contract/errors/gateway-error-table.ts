/** Errors of a gateway that starts or works, beside those that visitors get: these are in `failure-table.ts`. */
import { errorsSince } from '#base';

export const GATEWAY_ERRORS = errorsSince('0.1.0', {
  'cannot-open-log': {
    kind: 'invalid',
    meaning: 'The access log cannot be opened.',
    remedy: 'Create its folder, and let the gateway write there.',
  },
  'control-timeout': {
    kind: 'timeout',
    meaning: 'The control plane did not answer the gateway in time.',
    remedy: 'See whether the control plane runs and is not overloaded.',
  },
});
