/** Collects the checks of `frontdoor doctor` from options, the profile and files. */
import { resolve } from 'node:path';
import { messageOf } from '#base';
import type { RunningProgram } from '#domain/agent-shapes';
import { directDialer, type OutwardDialer } from '#net';
import { findRunningProgram } from '#net/files';
import { resolveAccess, type ResolvedAccess } from '../access/access.ts';
import { DEFAULT_API_URL, type ApiFlags } from '../access/api-options.ts';
import { profilePath } from '../access/profile-store.ts';
import { writeJson, type CliIo } from '../cli-io.ts';
import { agentChecks } from './agent-checks.ts';
import { apiChecks, contactApi, fetchInstallation, UNNAMED_API } from './api-checks.ts';
import { fileChecks } from './file-checks.ts';
import { failure, findingsText, runChecks, type Check } from './finding.ts';
import { installationChecks } from './installation-checks.ts';
import { machineChecks } from './machine-checks.ts';
import { networkChecks, unknownAddressChecks } from './network-checks.ts';
import { proxyChecks } from './proxy-check.ts';
import { networkTargets, recordedPorts, type NetworkTarget } from './network-targets.ts';
import { stateChecks } from './state-checks.ts';

export interface DoctorFlags extends ApiFlags {
  readonly dataDir: string;
  readonly agentDir: string;
  readonly edgeApi?: string;
  readonly gateway?: string;
  readonly router?: string;
}

const FAILED_STATUS = 1;

/** Never rejects. A problem of the doctor itself is a finding. */
export async function runDoctor(
  io: CliIo,
  flags: DoctorFlags,
  version: string,
  socketPath: string,
): Promise<void> {
  const [dataDir, agentDir] = [resolve(flags.dataDir), resolve(flags.agentDir)];
  const { access: given, problem, outward } = await accessOrProblem(flags, io);
  const { edgeApi, gateway, router } = flags;
  const isDefault =
    flags.api === undefined && io.env.FRONTDOOR_API_URL === undefined && given.profileName === undefined;
  const running = isDefault ? findRunningProgram(dataDir) : undefined;
  const localUrl = isDefault ? await localApiUrl(dataDir, running) : undefined;
  const access = localUrl === undefined ? given : { ...given, apiUrl: localUrl };
  // What listens at the default port may be a stranger's program, which gets no request and no credentials.
  const isNamed = !isDefault || localUrl !== undefined;
  const contact = isNamed ? contactApi(access) : Promise.resolve(UNNAMED_API);
  const [installation, { isOurs }] = await Promise.all([
    isNamed ? fetchInstallation(access) : undefined,
    contact,
  ]);
  const targets = await networkTargets({
    installation,
    apiUrl: access.apiUrl,
    isApiGuess: !isNamed,
    agentDir,
    dataDir,
    running,
    apiCa: access.ca,
    edgeApi,
    gateway,
    router,
  });
  const isUnknown = ({ isGuess }: NetworkTarget): boolean => isGuess && !isOurs;
  const findings = await runChecks([
    ...machineChecks(version, dataDir),
    ...proxyChecks(targets, outward),
    ...fileChecks(profilePath(io.env), [dataDir, agentDir]),
    ...stateChecks(dataDir, [dataDir, agentDir]),
    ...(problem === undefined ? [] : [problemCheck(problem)]),
    ...networkChecks(
      targets.filter((target) => !isUnknown(target)),
      outward,
    ),
    ...unknownAddressChecks(targets.filter(isUnknown), isNamed),
    ...apiChecks(access, contact),
    ...installationChecks(access, installation),
    ...agentChecks(socketPath, version),
  ]);
  const failures = findings.filter(({ state }) => state === 'failure').length;
  const warnings = findings.filter(({ state }) => state === 'warning').length;
  if (flags.json === true) writeJson(io, { findings, failures, warnings });
  else
    io.out(
      `${findingsText(findings)}\n${failures} failed, ${warnings} warnings, ${findings.length} checks\n`,
    );
  if (failures > 0) io.exitCode = FAILED_STATUS;
}

/** The Management API of a data directory: as others reach it while it runs, else at the port of its last start. */
async function localApiUrl(
  dataDir: string,
  running: RunningProgram | undefined,
): Promise<string | undefined> {
  if (running !== undefined) return running.baseUrl || running.apiUrl;
  const recorded = await recordedPorts(dataDir);
  return recorded && `http://127.0.0.1:${recorded.api}`;
}

/** Falls back to the remaining sources if the profile cannot be used, so that other checks still run. */
async function accessOrProblem(
  flags: DoctorFlags,
  io: CliIo,
): Promise<{ access: ResolvedAccess; problem?: string; outward: OutwardDialer }> {
  try {
    const access = await resolveAccess(flags, io);
    return { access, outward: access.outward ?? directDialer };
  } catch (error) {
    const apiUrl = flags.api ?? io.env.FRONTDOOR_API_URL ?? DEFAULT_API_URL;
    return { access: { apiUrl, credentials: undefined }, problem: messageOf(error), outward: directDialer };
  }
}

function problemCheck(problem: string): Check {
  return {
    name: 'access',
    run: () => Promise.resolve(failure(problem, 'correct the options, variables or the profile')),
  };
}
