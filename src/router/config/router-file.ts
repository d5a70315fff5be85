/**
 * Reads the router's configuration file into a configuration. Reports all problems at once, each with path, line, rule
 * and value. Reads this file only; `identity-check.ts` checks certificates before a router runs.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { formatGoDuration, FrontdoorError, messageOf } from '#base';
import { inFileOrder } from '#base/shapes';
import { invalidFile } from '#domain/invalid-file';
import { EXPIRY_RULE } from './certificate-expiry.ts';
import { decodeConfig } from './config-decoding.ts';
import { substituteEnvironment } from './environment-substitution.ts';
import { emptyMap, placeAt, type FileNode } from './file-tree.ts';
import { checkIdentityFiles, checkRequestedNames } from './identity-check.ts';
import { ProblemList } from './problem-list.ts';
import type { ConfigProblem, CsrConfig, RouterConfig } from './router-config.ts';
import { checkCsr, checkCtrl, ENDPOINTS_FILE } from './rules/ctrl-rules.ts';
import type { Draft, RuleContext } from './rules/draft.ts';
import { checkBackoffs, checkConnections, checkIdentity, checkProxy, checkWeb } from './rules/link-rules.ts';
import { checkDialers, checkListeners } from './rules/listener-rules.ts';
import { checkPorts } from './rules/port-rules.ts';
import { checkRunnable } from './rules/run-rules.ts';
import { SchemaCheck } from './schema-check.ts';
import { routerFileField, routerFileSchema, type RouterFile } from './schema/router-file-schema.ts';
import type { NetworkInterfaces } from './text-kinds.ts';
import { decodeText, MAX_FILE_BYTES, parseYaml } from './yaml-dialect.ts';

/** External facts that a file refers to: environment variables, network interfaces, and the endpoints file. */
export interface ConfigSurroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly interfaces: NetworkInterfaces;
  /** Returns true when a file exists. Without this function, no file does. */
  readonly exists?: (path: string) => boolean;
}

export interface ReadRouterFile {
  /** Errors and warnings in the order of the file. */
  readonly problems: readonly ConfigProblem[];
  /** The file with all defaults. Undefined, like `config`, when there is an error. */
  readonly effective: RouterFile | undefined;
  readonly config: RouterConfig | undefined;
  /** Settings of a valid file that this version cannot run. */
  readonly notRunnable: readonly ConfigProblem[];
  readonly root: FileNode;
}

const RULES = [
  checkCtrl,
  checkCsr,
  checkIdentity,
  checkBackoffs,
  checkConnections,
  checkDialers,
  checkListeners,
  checkPorts,
  checkWeb,
  checkProxy,
];

export function surroundingsOf(
  environment: Readonly<Record<string, string | undefined>>,
): ConfigSurroundings {
  // OpenZiti sets these variables to a system folder before it reads a file.
  const temporary = { TMP: tmpdir(), TEMP: tmpdir(), TMPDIR: tmpdir() };
  return {
    environment: { ...environment, ...temporary },
    interfaces: networkInterfaces(),
    exists: existsSync,
  };
}

/** `file` is the path of the file. Some defaults depend on it. */
export function readRouterFile(
  source: string | Uint8Array,
  file: string,
  { environment, interfaces, exists = () => false }: ConfigSurroundings,
): ReadRouterFile {
  const text = typeof source === 'string' ? source : decodeText(source);
  const parsed =
    typeof text === 'string'
      ? parseYaml(text, (value) => substituteEnvironment(value, environment))
      : { fault: text };
  if ('fault' in parsed) {
    const problem: ConfigProblem = { severity: 'error', path: '', rule: 'syntax', ...parsed.fault };
    return refused([problem], emptyMap());
  }
  // In an empty file all required keys are missing.
  const root = parsed.root.kind === 'null' ? emptyMap() : parsed.root;
  const problems = new ProblemList(root);
  for (const { path, line, column } of parsed.duplicates)
    problems.reportAt({
      severity: 'warning',
      path,
      line,
      column,
      rule: 'duplicate-key',
      value: undefined,
      message: 'stands twice in one map: the last one holds',
    });
  const checked = new SchemaCheck(problems, interfaces).check(routerFileField, root);
  if (root.kind !== 'map') return refused(problems.all(), root);
  const absolute = resolve(file);
  const draft = withFileDefaults(checked as RouterFile, root, absolute);
  const context: RuleContext = {
    draft: checked as Draft<RouterFile>,
    root,
    problems,
    file: absolute,
    exists,
  };
  for (const rule of RULES) rule(context);
  const all = problems.all();
  if (problems.hasErrors) return refused(all, root);
  return {
    problems: all,
    effective: draft,
    config: {
      ...decodeConfig(routerFileSchema, draft, { path: '', interfaces }),
      file: absolute,
      warnings: all,
      placeOf: (path, ...keys) => {
        const paths = keys.map((key) => `${path}.${key}`);
        const found = paths.find((one) => placeAt(root, one).node !== undefined) ?? path;
        return `${absolute}:${placeAt(root, found).line}: ${found}`;
      },
    },
    notRunnable: checkRunnable(context),
    root,
  };
}

/** Contains errors only; warnings are part of the configuration. */
export function parseRouterConfig(
  text: string,
  file: string,
  around: ConfigSurroundings,
): { readonly config: RouterConfig | undefined; readonly problems: readonly ConfigProblem[] } {
  const { config, problems } = readRouterFile(text, file, around);
  return { config, problems: problems.filter(({ severity }) => severity === 'error') };
}

/** @throws FrontdoorError `invalid`, which lists every problem with line and path, or `notFound`. */
export function loadRouterConfig(
  file: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): RouterConfig {
  const { config, problems } = readRouterFile(loadBytes(file), file, surroundingsOf(environment));
  if (config === undefined) throw configInvalid(file, problems);
  return config;
}

/**
 * Loads a file for enrollment: its endpoints file may be missing, because the token can name controllers. Advertised
 * hosts that the certificate request does not name are errors.
 */
export function loadEnrollableRouterConfig(
  file: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): RouterConfig {
  const around = { ...surroundingsOf(environment), exists: () => true };
  const { config, problems, root } = readRouterFile(loadBytes(file), file, around);
  const more = config === undefined ? [] : checkRequestedNames(config, root);
  if (config === undefined || more.length > 0) throw configInvalid(file, [...problems, ...more]);
  return config;
}

/**
 * Loads a file for running: settings that this version cannot run are errors, and so are certificates that are unusable
 * or lack the names that the router advertises. Expired certificates are warnings, because they can be replaced while
 * the router runs.
 */
export function loadRunnableRouterConfig(
  file: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): RouterConfig {
  const { config, problems, notRunnable, root } = readRouterFile(
    loadBytes(file),
    file,
    surroundingsOf(environment),
  );
  const found = config === undefined ? [] : checkIdentityFiles(config, root);
  const more = [...notRunnable, ...found];
  const stops = ({ rule, severity }: ConfigProblem): boolean => severity === 'error' && rule !== EXPIRY_RULE;
  if (config === undefined || more.some(stops)) throw configInvalid(file, [...problems, ...more]);
  return { ...config, warnings: inFileOrder([...config.warnings, ...found]) };
}

/** @throws FrontdoorError `notFound` when it cannot be read, `invalid` when it is too long. */
export function loadBytes(file: string): Uint8Array {
  try {
    if (statSync(file).size <= MAX_FILE_BYTES) return readFileSync(file);
  } catch (cause) {
    throw new FrontdoorError('notFound', 'config-unreadable', `cannot read ${file}: ${messageOf(cause)}`, {
      cause,
    });
  }
  const message = `${file} has problems:\n  ${file}:1:1 error: is longer than ${MAX_FILE_BYTES} bytes`;
  throw new FrontdoorError('invalid', 'config-invalid', message);
}

/** True if the section requests certificates with a DNS name or IP address, against which peers can check them. */
export function namesAnything({ hosts, uris, emails }: CsrConfig): boolean {
  return hosts.length + uris.length + emails.length > 0;
}

export function configInvalid(file: string, problems: readonly ConfigProblem[]): FrontdoorError {
  return invalidFile(file, inFileOrder(problems));
}

function refused(problems: readonly ConfigProblem[], root: FileNode): ReadRouterFile {
  return { problems, effective: undefined, config: undefined, notRunnable: [], root };
}

/** Fills in defaults that depend on the location of the file or on another section. */
function withFileDefaults(given: RouterFile, root: FileNode, file: string): RouterFile {
  const { ctrl, edge, link, forwarder } = given as Partial<RouterFile>;
  const probeMs = forwarder?.latencyProbeInterval ?? 0;
  const isSendGiven = placeAt(root, 'link.heartbeats.sendInterval').node !== undefined;
  const sendInterval =
    probeMs > 0 && !isSendGiven ? formatGoDuration(probeMs) : link?.heartbeats?.sendInterval;
  return {
    ...given,
    ...(ctrl === undefined
      ? {}
      : { ctrl: { ...ctrl, endpointsFile: ctrl.endpointsFile ?? join(dirname(file), ENDPOINTS_FILE) } }),
    ...(edge === undefined ? {} : { edge: { ...edge, db: edge.db ?? `${file}.proto.gzip` } }),
    ...(link === undefined
      ? {}
      : { link: { ...link, heartbeats: { ...link.heartbeats, sendInterval: sendInterval! } } }),
  };
}
