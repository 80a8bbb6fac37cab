export function writeSyncResults() {}
