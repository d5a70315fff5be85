/** All commands of `src/cli` but `dev`, wired to the parts. Each part is loaded when its command runs. */
// First: its number leaves the environment before any process is started.
import './launcher-pipe.ts';
import { processIo, runProgram } from '#cli';
import { buildFacts, programVersionText } from './build-facts.ts';

const version = programVersionText();

/** Resolves to the exit status. */
export async function runCommand(args: readonly string[]): Promise<number> {
  const io = processIo;
  const finish = async (work: Promise<number>): Promise<void> => {
    io.exitCode = await work;
  };
  // These are loaded when a command needs them: most commands only call a program that runs.
  const loadControl = () => import('./run-control.ts');
  const loadRouter = () => import('./run-router.ts');
  const loadService = () => import('./run-service.ts');
  const loadUpgrade = () => import('./run-upgrade.ts');
  const loadTunnel = () => import('./run-tunnel.ts');
  await runProgram(args, version, io, {
    up: async (options) => finish((await import('./run-up.ts')).runUp(options, version)),
    control: async (options) => finish((await loadControl()).runControl(options, version)),
    resetAdmin: async (options) => finish((await loadControl()).runResetAdmin(options)),
    adminsCreate: async (options) => finish((await loadControl()).runAdminsCreate(options)),
    consoleLink: async (options) => (await loadControl()).runConsoleLink(options),
    gateway: async (options) => finish((await import('./run-gateway.ts')).runGateway(options, version)),
    dnsCheck: async (...check) => (await import('./dns-check.ts')).runDnsCheck(...check),
    routerRun: async (file, options) => finish((await loadRouter()).runRouter(file, options, version)),
    routerEnroll: async (file, options) => finish((await loadRouter()).runRouterEnroll(file, options)),
    routerCheck: async (file, options) => {
      io.exitCode = (await import('./router-check.ts')).runRouterCheck(file, options, io);
    },
    routerSchema: async () => io.out((await import('./router-check.ts')).routerSchemaText()),
    restore: async (file, options) => (await loadControl()).runRestore(file, options),
    tunnelHost: async (options) => finish((await loadTunnel()).runTunnelHost(options, version)),
    tunnelProxy: async (options) => finish((await loadTunnel()).runTunnelProxy(options, version)),
    serviceInstall: async (options) => (await loadService()).runServiceInstall(options, io),
    serviceUninstall: async (instance) => (await loadService()).runServiceUninstall(instance, io),
    serviceStatus: async (instance) => (await loadService()).runServiceStatus(instance, io),
    schemaSteps: async () => (await import('#control')).schemaSteps(),
    readDatabase: async (options) => (await loadUpgrade()).readDatabase(options),
    checkOf: async (other) => (await loadUpgrade()).checkOf(other),
    buildFacts: () => Promise.resolve(buildFacts()),
    agentStart: async (options) => finish((await import('./run-agent.ts')).runAgent(options, version)),
  });
  return io.exitCode;
}
