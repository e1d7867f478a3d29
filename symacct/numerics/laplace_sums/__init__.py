"""E(K − S)₊ of a sum S of likelihood ratios of Laplace noise, in balls."""
