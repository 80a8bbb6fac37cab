/** Descriptions of GeoNames' feature codes of populated places. */
const KINDS: Readonly<Record<string, string>> = {
  PPL: 'Populated place',
  PPLA: 'Seat of a first-order division',
  PPLA2: 'Seat of a second-order division',
  PPLA3: 'Seat of a third-order division',
  PPLA4: 'Seat of a fourth-order division',
  PPLA5: 'Seat of a fifth-order division',
  PPLC: 'Capital',
  PPLCH: 'Former capital',
  PPLF: 'Farm village',
  PPLG: 'Seat of government',
  PPLH: 'Former populated place',
  PPLL: 'Locality',
  PPLQ: 'Abandoned place',
  PPLR: 'Religious place',
  PPLS: 'Group of places',
  PPLW: 'Destroyed place',
  PPLX: 'Part of a city',
  STLMT: 'Settlement',
};

export const kindOf = (featureCode: string): string => KINDS[featureCode] ?? featureCode;
