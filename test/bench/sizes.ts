/** How much of everything a run has. */
export interface Sizes {
  /** Measured rounds of each target: the reference, then ours. */
  rounds: number;
  /** Of one measurement that counts transactions. */
  seconds: number;
  /** Of one measurement that times a single client. */
  latencySeconds: number;
  /** Before the first order after a quiet time; longer than pools keep idle connections. */
  quietSeconds: number;
  /** Of the round that isn't measured: it fills caches and writes the first page images. */
  warmUpSeconds: number;
  /** At least 100. */
  markets: number;
  traders: number;
  /** pgbench's: 100,000 accounts and one branch each. */
  tpcbScale: number;
  /** Ready batches of the hot market, taken in random order. */
  batches: number;
  shallowBookOrders: number;
  deepBookOrders: number;
  /** Orders of one share each in one queue. */
  longQueue: number;
  /** As many orders as trades. */
  oldRows: number;
  /** That the leaderboard has behind it; a multiple of 1,000. */
  settledPositions: number;
  /** Clients of a stream; a target for each number. */
  streamClients: number[];
  /** WAL segments of 16 MB that are there before anything is measured. */
  walSegments: number;
  /** Calls of each kind that the profile looks at. */
  profiledCalls: number;
}

export const fullSizes: Sizes = {
  rounds: 5,
  seconds: 10,
  latencySeconds: 3,
  quietSeconds: 35,
  warmUpSeconds: 3,
  markets: 1000,
  traders: 10_000,
  tpcbScale: 20,
  batches: 300,
  shallowBookOrders: 1000,
  deepBookOrders: 100_000,
  longQueue: 12_000,
  oldRows: 5_000_000,
  settledPositions: 1_000_000,
  streamClients: [1000, 5000],
  walSegments: 250,
  profiledCalls: 3000,
};

/** Everything for real, but only to see that it works. */
export const shortSizes: Sizes = {
  rounds: 1,
  seconds: 1,
  latencySeconds: 1,
  quietSeconds: 1,
  warmUpSeconds: 0,
  markets: 100,
  traders: 400,
  tpcbScale: 1,
  batches: 20,
  shallowBookOrders: 100,
  deepBookOrders: 2000,
  longQueue: 600,
  oldRows: 20_000,
  settledPositions: 20_000,
  streamClients: [100],
  walSegments: 2,
  profiledCalls: 200,
};
