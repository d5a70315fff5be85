export { runProgram, type ProgramRunners } from './program.ts';
export { type AgentStartOptions } from './agent-command.ts';
export { callAgent } from './agent-socket-client.ts';
export { processIo, type CliIo } from './cli-io.ts';
export {
  type ControlCommandOptions,
  type GatewayCommandOptions,
  type RouterEnrollOptions,
  type RouterRunOptions,
  type UpCommandOptions,
} from './server-commands.ts';
