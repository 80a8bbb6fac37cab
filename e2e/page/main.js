// The app of the end-to-end tests: the package as published, by the names of its exports map, at hand for `page.evaluate`.
import * as burrow from 'burrowdb';
import workerUrl from 'burrowdb/worker?url';

Object.assign(globalThis, { burrow, workerUrl, loadDriver: () => import('faunadb') });
