/**
 * Which passwords people may choose: long ones that are not among those that everyone tries first (NIST SP 800-63B
 * §3.1.1.2). There is no rule about kinds of characters.
 */

export const MIN_PASSWORD_CHARS = 12;
/** Longer ones are refused before they are hashed. */
export const MAX_PASSWORD_CHARS = 256;
const MIN_DIFFERENT_CHARS = 5;

/** Common passwords of 12 characters and more, and the beginnings of many others, in lower case. */
const COMMON = [
  '123456789',
  '1234567890',
  '0123456789',
  '987654321',
  '111111111',
  '1q2w3e4r5t',
  '1qaz2wsx3edc',
  'q1w2e3r4t5',
  'qwertyuiop',
  'qwerty123',
  'qwertyqwerty',
  'asdfghjkl',
  'zxcvbnm',
  'abcdefgh',
  'abcd1234',
  'abc123abc',
  'password',
  'passw0rd',
  'p@ssword',
  'p@ssw0rd',
  'passwort',
  'changeme',
  'letmein',
  'welcome',
  'iloveyou',
  'administrator',
  'admin1234',
  'rootroot',
  'superuser',
  'frontdoor',
  'correcthorsebatterystaple',
  'trustno1',
  '12345678',
  '123456',
  '654321',
];
/** So many characters have to remain beside a common password and what others know of the person. */
const MIN_OWN_CHARS = 8;

/** Why a password is refused. */
export type PasswordProblem = 'too-short' | 'too-long' | 'repeats-characters' | 'is-guessed' | 'is-the-same';

/** Returns why the password is refused, or undefined. `known` are texts that others know of the person. */
export function passwordProblem(password: string, known: readonly string[]): PasswordProblem | undefined {
  const { length } = [...password];
  if (length < MIN_PASSWORD_CHARS) return 'too-short';
  if (length > MAX_PASSWORD_CHARS) return 'too-long';
  if (new Set(password).size < MIN_DIFFERENT_CHARS) return 'repeats-characters';
  const words = [...known, ...known.flatMap((text) => text.split(/[@\s.]+/)), ...COMMON];
  let own = password.toLowerCase();
  for (const word of words) if (word.length >= 4) own = own.replaceAll(word.toLowerCase(), '');
  return [...own].length < MIN_OWN_CHARS ? 'is-guessed' : undefined;
}
