/** Errors of commands, before or after they talk to a server. */
import { errorsSince } from '#base';

export const CLI_ERRORS = errorsSince('0.1.0', {
  'frontdoor-too-large': {
    kind: 'tooLarge',
    meaning: 'The frontdoor has more entries of one kind than "frontdoor apply" compares.',
    remedy: 'Use the commands for single resources, or divide the frontdoor.',
  },
  'not-confirmed': {
    kind: 'invalid',
    meaning:
      'A command would change something that exists, or continue in spite of a problem, and nobody can be asked.',
    remedy: 'Follow the message; --yes confirms.',
  },
  'disk-full': {
    kind: 'unavailable',
    meaning: 'A file cannot be written, because its disk is full.',
    remedy: 'Free space on the disk, or choose another place.',
  },
  'disk-read-only': {
    kind: 'unavailable',
    meaning: 'A file or folder cannot be written, because its file system is read-only.',
    remedy: 'Choose another place, or mount the file system for writing.',
  },
  'file-forbidden': {
    kind: 'forbidden',
    meaning: 'The user that runs the command has no permission for a file or folder.',
    remedy: 'Run the command as the owner of the file, or change its permissions.',
  },
  'health-foreign': {
    kind: 'unavailable',
    meaning: 'The server that "frontdoor health" asked is no program of Frontdoor.',
    remedy: 'Give the address of --metrics-listen of the program.',
  },
  'option-missing': {
    kind: 'invalid',
    meaning: 'A command needs an option, and nobody can be asked for its value.',
    remedy: 'Give the options that the message names, or run the command in a terminal.',
  },
  'service-start-failed': {
    kind: 'unavailable',
    meaning: 'The service that "frontdoor setup" has set up did not start.',
    remedy: 'See the reason in the message and in the log of the service.',
  },
  'share-elsewhere': {
    kind: 'conflict',
    meaning: 'A share of the file of "frontdoor apply" belongs to another environment.',
    remedy: 'Delete the share first, give it another name in the file, or name the environment that it has.',
  },
  'agent-answer': {
    kind: 'badGateway',
    meaning: 'The program at the control socket is not an agent of this version.',
    remedy: 'Restart the agent with this version.',
  },
  'agent-closed': {
    kind: 'unavailable',
    meaning: 'The agent closed the connection without a response.',
    remedy: 'See the log of the agent.',
  },
  'agent-silent': {
    kind: 'timeout',
    meaning: 'The agent did not respond in time.',
    remedy: 'See the log of the agent; restart it if it hangs.',
  },
  answer: {
    kind: 'badGateway',
    meaning: 'The server did not respond like a Management API.',
    remedy: 'Check the address given with --api.',
  },
  'api-url': {
    kind: 'invalid',
    meaning: 'The address of the Management API cannot be used with credentials.',
    remedy: 'Give its https address with --api.',
  },
  argument: {
    kind: 'invalid',
    meaning: 'An argument of the command has the wrong form.',
    remedy: 'See the --help of the command.',
  },
  arguments: {
    kind: 'invalid',
    meaning: 'The arguments of the command contradict each other.',
    remedy: 'See the --help of the command.',
  },
  body: {
    kind: 'invalid',
    meaning: 'The body given with an option is not valid JSON, or the file cannot be read.',
    remedy: 'Correct the JSON or the path.',
  },
  'ca-file': {
    kind: 'invalid',
    meaning: 'The file given with --ca cannot be read.',
    remedy: 'Check the path.',
  },
  'credentials-file': {
    kind: 'invalid',
    meaning: 'The file of API credentials cannot be read.',
    remedy:
      'Give the path of a file such as first-secrets.json, and check that the user of the command may read it.',
  },
  cancelled: {
    kind: 'invalid',
    meaning: 'A prompt was cancelled, and nothing was changed.',
    remedy: 'Run the command again.',
  },
  'demo-credentials': {
    kind: ['invalid', 'notFound'],
    meaning: 'The credentials of the demo do not exist.',
    remedy: 'Start the demo once with "frontdoor up --demo", or name its data directory.',
  },
  'no-log-files': {
    kind: 'notFound',
    meaning: 'A data directory has no log files.',
    remedy:
      'Name the data directory of the demo with --data-dir, or read the journal of the service manager.',
  },
  'demo-stopped': {
    kind: 'unavailable',
    meaning: 'The demo whose credentials a command would use is not running.',
    remedy: 'Start it with "frontdoor up --demo", or give its address with --api.',
  },
  input: {
    kind: ['invalid', 'tooLarge'],
    meaning: 'Standard input is empty or too long, or two options read it.',
    remedy: 'Give one secret or one body on standard input.',
  },
  login: {
    kind: 'internal',
    meaning: 'The API first accepted the credentials and then refused them.',
    remedy: 'Run "frontdoor login" again; report the error if it persists.',
  },
  name: {
    kind: 'invalid',
    meaning: 'A name matches no object, or several objects.',
    remedy: 'Give one of the IDs that the message shows.',
  },
  'no-agent': {
    kind: 'unavailable',
    meaning: 'No agent is running at the control socket.',
    remedy: 'Start one with "frontdoor agent start", or specify it with --data-dir or --socket.',
  },
  'no-credentials': {
    kind: ['unauthenticated', 'invalid'],
    meaning: 'The command has no credentials.',
    remedy: 'Run "frontdoor login", or set FRONTDOOR_ACCOUNT_ID and FRONTDOOR_API_TOKEN.',
  },
  'no-entry': {
    kind: 'invalid',
    meaning: 'The entry to remove is not in the list.',
    remedy: 'Use one of the entries that the message shows.',
  },
  'no-frontdoor': {
    kind: ['invalid', 'notFound'],
    meaning: 'No frontdoor is selected.',
    remedy: 'Give --frontdoor ID, or set FRONTDOOR_ID.',
  },
  'no-profile': {
    kind: ['invalid', 'notFound'],
    meaning: 'There is no profile with the name.',
    remedy:
      'Use one of the profiles that the message shows, or create it with "frontdoor login --profile NAME".',
  },
  'not-recorded': {
    kind: 'invalid',
    meaning: 'Requests to the share are not recorded.',
    remedy: 'Start recording with "frontdoor shares inspect on".',
  },
  'options-missing': {
    kind: 'invalid',
    meaning: 'Options that the command needs are missing.',
    remedy: 'Give the options that the message names.',
  },
  'enrolled-elsewhere': {
    kind: 'conflict',
    meaning:
      'A router, gateway or environment of the name is enrolled, and the file of its enrollment is missing.',
    remedy: 'If its data directory was lost, delete it and create it again; otherwise put the file back.',
  },
  'out-file': {
    kind: 'invalid',
    meaning: 'The file given with --out cannot be written.',
    remedy: 'Check the path; the file must not exist yet.',
  },
  profiles: {
    kind: 'invalid',
    meaning: 'The profile file cannot be used.',
    remedy: 'The message has the reason: you must own the file, and only you may be able to read it.',
  },
  refused: {
    kind: [
      'invalid',
      'unauthenticated',
      'forbidden',
      'notFound',
      'conflict',
      'limited',
      'internal',
      'unavailable',
    ],
    meaning: 'A server refused the request without an error code.',
    remedy: 'Check the address given with --api: the response may come from a proxy.',
  },
  'socket-access': {
    kind: 'forbidden',
    meaning: 'The control socket belongs to another user.',
    remedy: 'Run the command as the user of the agent.',
  },
  stream: {
    kind: 'protocol',
    meaning: 'The Management API sent an event that cannot be read.',
    remedy: 'Use compatible versions of both programs.',
  },
  'target-option': {
    kind: 'invalid',
    meaning: 'An option of shared folders was given with a target that is not the path of a folder.',
    remedy: 'Leave the option out, or give the path of a folder, such as ./public.',
  },
  'two-callers': {
    kind: 'invalid',
    meaning: 'Two kinds of credentials were given.',
    remedy: 'Give either --account or --client.',
  },
  'upgrade-form': {
    kind: 'invalid',
    meaning: 'The command "frontdoor upgrade" was run without --check.',
    remedy: 'Add --check, or upgrade by the package or the script that installed the program.',
  },
  'upgrade-version': {
    kind: 'invalid',
    meaning: 'The archive or folder of another version has no programs for this machine.',
    remedy: 'Name an archive of Frontdoor for this machine, or the folder into which it was unpacked.',
  },
  value: {
    kind: 'invalid',
    meaning: 'The value of an option has the wrong form.',
    remedy: 'Use the form that the message shows.',
  },
});
