/** The refusal of a value by the name of its property. Each API gives it the form of its answers. */
import { FrontdoorError } from '#base';

/** `property` is a dotted path: `session.idle`, `keys.0.name`. `expected` names what the value must be of. */
export function invalidValue(property: string, expected: string): FrontdoorError {
  return new FrontdoorError('invalid', 'invalid-request', `Value for ${property} must be of ${expected}`);
}
