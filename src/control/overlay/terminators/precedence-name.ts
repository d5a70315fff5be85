/** The names of precedences in views and events. */
import { Precedence } from './terminator-registry.ts';

export type PrecedenceName = 'default' | 'required' | 'failed';

export function precedenceName(precedence: number): PrecedenceName {
  if (precedence === Precedence.required) return 'required';
  return precedence === Precedence.failed ? 'failed' : 'default';
}
