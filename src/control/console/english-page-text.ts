/** The texts of the pages that the control plane renders, in English. Other languages have the same. Text in backticks is shown as code. */
import type { LoginRefusalReason } from '#domain/gateway-shapes';
import { MAX_PASSWORD_CHARS, MIN_PASSWORD_CHARS, type PasswordProblem } from './password-rule.ts';

const passwordProblems: Readonly<Record<PasswordProblem, string>> = {
  'too-short': `The password needs at least ${MIN_PASSWORD_CHARS} characters.`,
  'too-long': `The password may have at most ${MAX_PASSWORD_CHARS} characters.`,
  'repeats-characters': 'The password repeats too few characters.',
  'is-guessed':
    'The password is one that others guess: it consists of a common password, your name or your address.',
  'is-the-same': 'The new password is the one that you have.',
};

const providerFailed =
  'The identity provider did not complete the sign-in. Try again, or ask an administrator.';
const providerRefusals: Readonly<Record<LoginRefusalReason, string>> = {
  denied: 'The identity provider refused the sign-in.',
  'attempt-not-valid':
    'This sign-in has expired, or was started in another browser or at another address of the console. Start again.',
  'provider-not-available': 'This provider is no longer used to sign in.',
  'provider-failed': providerFailed,
  'email-not-verified': 'Your account has no verified email address.',
  'too-many': 'Too many people are signing in. Try again in a minute.',
};

const testRemedies: Readonly<Record<LoginRefusalReason, string>> = {
  denied:
    'The provider refused the sign-in. Check that this account is assigned to the application, and that the application may request its scopes.',
  'provider-failed':
    'Check the client ID, the client secret and the issuer, and that the control plane may reach the provider (`--allow-egress` for private networks).',
  'email-not-verified':
    'This type admits only accounts with a verified email address. Sign in with another account, or verify the address at the provider.',
  'attempt-not-valid': 'Start the test again.',
  'provider-not-available': 'The provider was deleted in the meantime.',
  'too-many': 'Too many people are signing in with this provider. Try again in a minute.',
};

export const ENGLISH_PAGE_TEXT = {
  // Log-in.
  signIn: 'Sign in',
  signInWith: (provider: string) => `Sign in with ${provider}`,
  emailAddress: 'Email address',
  password: 'Password',
  showPassword: 'Show password',
  hidePassword: 'Hide password',
  logInHelp:
    'You can also use the ID and token of an API account. If you have forgotten your password, ask an administrator of your organization for a link to set a new one.',
  wrongPassword:
    'The email address or the password is wrong. After ten wrong passwords in a row, sign-in is blocked for 15 minutes.',
  tooManyPasswords: (seconds: number) =>
    `Too many wrong passwords or too many concurrent sign-ins. Try again in ${seconds} s.`,
  signedIn: 'You are signed in',
  notSignedIn: 'You are not signed in',
  continue: 'Continue',
  continueWith: (provider: string) => `Continue with ${provider}`,
  continueAtProvider: 'Continue at the identity provider',
  cookieLost: 'Your browser did not keep the session. Allow cookies for this address, then sign in again.',
  signInAgain: 'Sign in again',
  signInTooOld: 'Sign in again: this needs a sign-in of the last 15 minutes.',
  signOut: 'Sign out',
  providerRefusals,
  // Invitations and links.
  welcome: 'Welcome to Frontdoor',
  enterCode: (purpose: string) => `Enter the code from your link: the part after \`#\`. ${purpose}`,
  invitationPurpose: 'It creates your account and can be used once.',
  newPasswordPurpose: 'It sets a new password and can be used once.',
  code: 'Code',
  unknownCode: 'The code is invalid, has already been used, or has expired. Ask for a new link.',
  usedCode: 'The code has just been used.',
  unknownInvitation:
    'The invitation code is invalid, has already been used, or has expired. Ask for a new link.',
  crowded:
    'Too many people are waiting for a role in this organization. Ask one of its administrators for an invitation.',
  invited: (maker: string | undefined, organization: string | undefined) =>
    `${maker === undefined ? 'You are invited' : `${maker} invites you`}${organization === undefined ? '' : ` to the organization ${organization}`}.`,
  invitedRole: (role: string) => `Your account will have the role ${role}.`,
  roles: { reader: 'reader', editor: 'editor', administrator: 'administrator', operator: 'operator' },
  invitationExpires: (time: string) => `The invitation expires on ${time} UTC.`,
  orPassword: 'Or set a password.',
  name: 'Name',
  createAccount: 'Create account',
  yourAccount: 'Your account',
  nameInvalid: 'The name is missing or too long.',
  emailInvalid: 'Enter a valid email address.',
  emailTaken: 'Another person in the organization already has this email address.',
  tooManySignIns: 'Too many people are signing in. Try again.',
  // Passwords.
  passwordRule: `At least ${MIN_PASSWORD_CHARS} characters, for example four words.`,
  passwordProblems,
  changePassword: 'Change password',
  currentPassword: 'Current password',
  newPassword: 'New password',
  setPassword: 'Set password',
  back: 'Back',
  otherSessionsEnd: 'All your other sessions end when you change the password.',
  allSessionsEnd: 'All your sessions end when the new password is set.',
  noPassword: 'You do not sign in with a password.',
  wrongCurrentPassword:
    'The current password is wrong. After ten wrong passwords in a row, sign-in is blocked for 15 minutes.',
  tooManyWaiting: (seconds: number) =>
    `There were too many wrong passwords, or too many wait at once. Try again in ${seconds} s.`,
  // Second factor.
  secondFactor: 'Second factor',
  recoveryCode: 'Recovery code',
  appCode: 'Code from your authenticator app',
  useAppCode: 'Use a code from your app',
  useRecoveryCode: 'Use a recovery code',
  noCode: 'If you have neither, ask an administrator of your organization for help.',
  setUpFactor: 'Set up a second factor',
  setUpOtherApp: 'Set up another authenticator app',
  scanCode:
    'From now on, signing in with your password also requires a code. Scan the QR code with an authenticator app.',
  qrCode: 'QR code with the secret below',
  orSecret: 'Or enter this secret in the app:',
  currentCode: 'Current code from the app',
  recoveryCodes: 'Recovery codes',
  recoveryText:
    'Store these recovery codes in a safe place. Each can be used once instead of a code from your app. They are not shown again.',
  copy: 'Copy',
  copied: 'Copied',
  saveAsFile: 'Save as a file',
  haveStored: 'I have stored them',
  newRecoveryCodes: 'Create new recovery codes',
  wrongFactor:
    'The code is wrong or has already been used. After five wrong codes in a row, sign-in is blocked for 15 minutes, and then for longer.',
  tooManyCodes: (seconds: number) => `There were too many wrong codes. Try again in ${seconds} s.`,
  stepOver: 'This sign-in has expired, or your browser did not keep its cookie. Start again.',
  onlyWithPassword: 'Only people who sign in with a password can set up a second factor.',
  // Account, and pages instead of the program.
  noRole:
    'You do not have a role yet. Ask an administrator of your organization to assign one, then reload this page.',
  goToConsole: 'Go to the console',
  notBuilt: 'The console has not been built',
  notBuiltText: 'The console has not been built. The command line and the API work without it.',
  buildIt:
    'Run `npm ci` and `npm run build` in the directory of this installation, then restart it. Or build the same version on another machine, copy its directory `dist/console` here, and restart.',
  needsScript: 'The console needs JavaScript. The command line and the API do all that it does.',
  // Failures.
  notFound: 'Not found',
  noPage: 'There is no page at this address.',
  notEncrypted: 'Not encrypted',
  notEncryptedText:
    'This connection to the console is not encrypted, so browsers do not keep a session. Open the console with `https://`, or on this machine with `http://localhost`.',
  proxyText:
    'If a proxy serves this page with `https://`, the control plane option `--public-api-url` must also start with `https://`.',
  otherAddress: 'Another address',
  otherAddressText:
    'The console does not answer under this name. Use the address that the control plane printed. To serve it behind a proxy under this name, start the control plane with `--public-api-url` and the address that browsers show.',
  notAvailable: 'Not available',
  notAvailableText: 'The console is not available at the moment. Try again in a minute.',
  didNotWork: 'This did not work',
  internalError: 'Internal error',
  internalErrorText: (errorId: string) => `This is a fault of the console. Its error ID is ${errorId}.`,
  // Test sign-ins.
  testSignIn: 'Test sign-in',
  showResult: 'Show the result',
  testWorks: 'The sign-in works',
  testFailed: 'The sign-in failed',
  testStoresNothing: 'No session was started, and nothing was stored. You can close this window.',
  testRemedies,
  testRedirectUrl: 'The redirect URL of this test, which the provider has to know:',
  testNotPermitted: 'Your role does not allow this. Ask an administrator of your organization.',
  testNoProvider: 'There is no such sign-in provider, or nobody signs in with its type.',
  testOver:
    'This test has expired, was completed before, or was started by another session. Close this window, and start the test again.',
  testTooMany: 'Too many tests failed. Try again in a minute.',
  testOtherAddress: (url: string) => `The test returns to ${url}. Open the console at that address.`,
  person: 'Person',
  subject: 'Subject',
  verifiedEmail: 'Verified email address',
  noVerifiedEmail: 'none: rules about email addresses refuse this person',
  none: 'none',
  groups: 'Groups',
  noGroups: 'none: rules about groups refuse this person',
  decisions: 'What the rules decide',
  noUses: 'No share and no console sign-in uses this provider yet.',
  consoleDecision: (role: string | undefined) =>
    `Console: ${role === undefined ? 'no role, until an administrator gives one' : `the role ${role}`}`,
  shareAllowed: (token: string) => `Share ${token}: allowed`,
  shareRefused: (token: string) => `Share ${token}: refused, because`,
  claims: 'Claims',
};

export type PageText = typeof ENGLISH_PAGE_TEXT;
/** A text in the language of the page that shows it. */
export type Said = (text: PageText) => string;
