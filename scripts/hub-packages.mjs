// Installs only the packages that a hub needs, a third of all, in a fresh clone that is only used to run a hub.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import {
  ensurePackages,
  installedPackages,
  lockedPackages,
  root,
  say,
  succeeds,
} from './setup.mjs';

/** @typedef {import('./setup.mjs').LockedPackages} LockedPackages */

/** Packages that the hub imports, and the bundler. */
export const HUB_PACKAGES = [
  '@electric-sql/pglite',
  'bcryptjs',
  'comlink',
  'commander',
  'eventsource-parser',
  'jose',
  'pg',
  'pino',
  'prom-client',
  'rolldown',
  's3mini',
  'ws',
];

export function ensureHubPackages() {
  const lock = lockedPackages();
  const wanted = lock && closureOf(lock);
  if (wanted === undefined || existsSync(join(root, 'node_modules'))) {
    if (wanted === undefined || !areInstalled(wanted)) ensurePackages();
    return;
  }
  say('Installing the packages that the hub needs into node_modules (npm ci).');
  if (!installOnly(wanted)) ensurePackages();
}

/** @param {LockedPackages} wanted */
function areInstalled(wanted) {
  const present = installedPackages() ?? {};
  return Object.entries(wanted).every(
    ([path, { version, optional }]) =>
      present[path]?.version === version || (present[path] === undefined && optional === true),
  );
}

/** The hub's packages with all their dependencies, at their places in the lockfile. @param {LockedPackages} lock */
function closureOf(lock) {
  /** @type {LockedPackages} */
  const found = {};
  /** @param {string} from @param {string} name */
  const visit = (from, name) => {
    const path = placeOf(lock, from, name);
    const package_ = path === undefined ? undefined : lock[path];
    if (path === undefined || package_ === undefined || found[path]) return;
    found[path] = package_;
    const { dependencies, optionalDependencies, peerDependencies } = package_;
    for (const each of [dependencies, optionalDependencies, peerDependencies])
      for (const needed of Object.keys(each ?? {})) visit(path, needed);
  };
  for (const name of HUB_PACKAGES) visit('', name);
  return found;
}

/**
 * The place at which Node finds a package: inside the importing package's own node_modules, or in one further out.
 * @param {LockedPackages} lock @param {string} from @param {string} name
 */
function placeOf(lock, from, name) {
  for (let base = from; ; base = base.slice(0, Math.max(base.lastIndexOf('/node_modules/'), 0))) {
    const path = `${base === '' ? '' : `${base}/`}node_modules/${name}`;
    if (lock[path]) return path;
    if (base === '') return undefined;
  }
}

/** Installs in a separate folder, because npm can only install all packages of a project. @param {LockedPackages} wanted */
function installOnly(wanted) {
  const modules = join(root, 'node_modules');
  const project = join(modules, '.hub');
  mkdirSync(project, { recursive: true });
  const dependencies = Object.fromEntries(
    HUB_PACKAGES.map((name) => [name, wanted[`node_modules/${name}`]?.version]),
  );
  const name = 'burrow-hub';
  const packages = { '': { name, dependencies }, ...wanted };
  const lock = { name, lockfileVersion: 3, requires: true, packages };
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name, dependencies }));
  writeFileSync(join(project, 'package-lock.json'), JSON.stringify(lock));
  writeFileSync(join(project, '.npmrc'), readFileSync(join(root, '.npmrc')));
  const isInstalled = succeeds('npm', ['ci', '--no-audit', '--no-fund'], { cwd: project });
  if (isInstalled)
    for (const each of readdirSync(join(project, 'node_modules')))
      renameSync(join(project, 'node_modules', each), join(modules, each));
  rmSync(project, { recursive: true, force: true });
  return isInstalled;
}
