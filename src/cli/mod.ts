export { buildProgram, buildWholeProgram, runProgram, type ProgramRunners } from './program.ts';
export {
  describedSections,
  type ConfigKey,
  type DescribedSection,
  type ConfigForm,
} from './config-file/config-key.ts';
export { formWords } from './config-file/config-value.ts';
export { type AdminsCreateOptions } from './admins-command.ts';
export { type ConsoleLinkOptions } from './console-command.ts';
export { type AgentStartOptions } from './agent-command.ts';
export { type TunnelHostCommandOptions, type TunnelProxyCommandOptions } from './tunnel-command.ts';
export { type RestoreCommandOptions } from './backup-command.ts';
export { DATABASE_VARIABLE, type DatabaseOptions } from './database-option.ts';
export { type AccessOptions } from './access-options.ts';
export { SMTP_PASSWORD_VARIABLE, type MailOptions } from './mail-options.ts';
export { type GatewayProxyOptions } from './proxy-options.ts';
export { LETS_ENCRYPT, type AcmeCommandOptions, type DnsCommandOptions } from './acme-options.ts';
export { type DnsCheckCommandOptions } from './dns-check-command.ts';
export { isOperationCommand, OPERATION_COMMANDS } from './operations/operation-command-table.ts';
export { type ServiceInstallOptions } from './service-command.ts';
export { type UpgradeFlags } from './upgrade/upgrade-runner.ts';
export { type BuildFacts } from './local/version-command.ts';
export { type LogOptions } from './log-options.ts';
export type { NeededServer } from './doctor/surrounding-checks.ts';
export { anyShareOf, checkSurroundings } from './doctor/surroundings.ts';
export { callAgent } from './agent-socket-client.ts';
export { processIo, type CliIo } from './cli-io.ts';
export {
  type ControlCommandOptions,
  type GatewayCommandOptions,
  type UpCommandOptions,
  type UpPortOptions,
} from './server-commands.ts';
export type { ResetAdminCommandOptions } from './reset-admin-command.ts';
export {
  type RouterCheckCommandOptions,
  type RouterEnrollOptions,
  type RouterRunOptions,
} from './router-command.ts';
