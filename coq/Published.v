(** What symacct's certificates rest on: mechanisms, their curves, and the papers' theorems.

    A certificate's last theorem reads: if the theorems in [published] hold, then the mechanism is
    (ε, δ)-differentially private.  All else is proved. *)

From Coq Require Import Reals Lra Lia List ZArith.
From Coquelicot Require Import Coquelicot.
From Symacct Require Import FiniteLaws.
Import ListNotations.
Open Scope R_scope.

(** * Mechanisms, as symacct writes them *)

Inductive mechanism :=
| Gaussian (sigma sensitivity : R)
| Laplace (b sensitivity : R)
| RandomizedResponse (p : R)
| PureDP (epsilon : R)
| ZCDP (rho xi : R)
| PoissonSubsample (m : mechanism) (gamma : R)
| Compose (m1 m2 : mechanism)
| Times (n : positive) (m : mechanism).

Fixpoint valid (m : mechanism) : Prop :=
  match m with
  | Gaussian scale sensitivity | Laplace scale sensitivity => 0 < scale /\ 0 < sensitivity
  | RandomizedResponse p => 0 < p < 1
  | PureDP epsilon => 0 <= epsilon
  | ZCDP rho xi => 0 <= rho /\ 0 <= xi
  | PoissonSubsample m gamma => valid m /\ 0 <= gamma <= 1
  | Compose m1 m2 => valid m1 /\ valid m2
  | Times _ m => valid m
  end.

(** * Curves ε(α), in nats *)

Definition gaussian (sigma sensitivity alpha : R) : R := alpha * (sensitivity / sigma) ^ 2 / 2.

Definition laplace (b sensitivity alpha : R) : R :=
  ln (alpha / (2 * alpha - 1) * exp ((alpha - 1) * (sensitivity / b))
      + (alpha - 1) / (2 * alpha - 1) * exp (- alpha * (sensitivity / b))) / (alpha - 1).

(** Of the laws (p, 1−p) and (1−p, p). *)
Definition responding (p alpha : R) : R :=
  ln ((1 - p) * exp (alpha * ln (p / (1 - p))) + p * exp (alpha * ln ((1 - p) / p))) / (alpha - 1).

(** The worst ε₀-DP mechanism answers truthfully with probability e^ε₀/(1 + e^ε₀). *)
Definition truth (epsilon : R) : R := exp epsilon / (1 + exp epsilon).

Definition pure (epsilon alpha : R) : R :=
  ln ((1 - truth epsilon) * exp (alpha * epsilon) + truth epsilon * exp (- alpha * epsilon))
  / (alpha - 1).

Definition concentrated (rho xi alpha : R) : R := xi + rho * alpha.

(** e^{(k−1) ε(k)}, with the values 1 at k = 0 and k = 1 of every curve. *)
Definition moment_at (curve : nat -> R) (k : nat) : R :=
  match k with
  | O | S O => 1
  | S _ => exp ((IZR (Z.of_nat k) - 1) * curve k)
  end.

(** Σ_k C(n,k) γ^k (1−γ)^{n−k} e^{(k−1) ε(k)}. *)
Definition sampled_moment (n : nat) (gamma : R) (curve : nat -> R) : R :=
  sum_f_R0 (fun k => Binomial.C n k * gamma ^ k * (1 - gamma) ^ (n - k) * moment_at curve k) n.

(** * Integrals of sampled noise, in units of the noise's scale: [s] is sensitivity / scale *)

(** φ(z) ((1−γ) + γ e^{sz − s²/2})^α *)
Definition sampled_normal (s gamma alpha z : R) : R :=
  exp (- z ^ 2 / 2) / sqrt (2 * PI)
  * exp (alpha * ln (1 - gamma + gamma * exp (s * z - s ^ 2 / 2))).

(** ½ e^{−|z|} ((1−γ) + γ e^{|z| − |z−s|})^α *)
Definition sampled_laplace (s gamma alpha z : R) : R :=
  exp (- Rabs z) / 2 * exp (alpha * ln (1 - gamma + gamma * exp (Rabs z - Rabs (z - s)))).

(** The integral of a function that is not negative over the whole line is the supremum of its
    integrals over intervals, so this says that it is at most [bound]. *)
Definition integral_at_most (f : R -> R) (bound : R) : Prop :=
  forall l u, l <= u -> RInt f l u <= bound.

(** E_Q[((1−γ) + γ P/Q)^α] of the laws P = (p, 1−p) and Q = (1−p, p). *)
Definition sampled_response (p gamma alpha : R) : R :=
  (1 - p) * exp (alpha * ln (1 - gamma + gamma * (p / (1 - p))))
  + p * exp (alpha * ln (1 - gamma + gamma * ((1 - p) / p))).

(** * The theorems of the papers, by name

    [rdp m alpha r] says that D_α(M(X)‖M(X′)) <= r for all neighbouring X and X′, and
    [dp m epsilon delta] that m is (ε, δ)-DP.  Neighbours are datasets of which one has one record
    more, where a Poisson sample is in m, and else those of the relation that the sensitivities
    were measured for. *)

Record published (rdp : mechanism -> R -> R -> Prop) (dp : mechanism -> R -> R -> Prop) : Prop := {
  (* Mironov, Rényi differential privacy (2017), Table II. *)
  MIR17_gaussian : forall sigma sensitivity alpha,
    0 < sigma -> 0 < sensitivity -> 1 < alpha ->
    rdp (Gaussian sigma sensitivity) alpha (gaussian sigma sensitivity alpha);
  MIR17_laplace : forall b sensitivity alpha,
    0 < b -> 0 < sensitivity -> 1 < alpha ->
    rdp (Laplace b sensitivity) alpha (laplace b sensitivity alpha);
  MIR17_response : forall p alpha,
    0 < p < 1 -> 1 < alpha -> rdp (RandomizedResponse p) alpha (responding p alpha);
  (* Kairouz, Oh and Viswanath, The composition theorem for differential privacy (2015): every
     ε₀-DP mechanism is a post-processing of randomized response. *)
  KOV15_pure : forall epsilon alpha,
    0 <= epsilon -> 1 < alpha -> rdp (PureDP epsilon) alpha (pure epsilon alpha);
  (* Bun and Steinke, Concentrated differential privacy (2016), Definition 1.1. *)
  BS16_concentrated : forall rho xi alpha,
    0 <= rho -> 0 <= xi -> 1 < alpha -> rdp (ZCDP rho xi) alpha (concentrated rho xi alpha);
  (* Mironov 2017, Proposition 1. *)
  MIR17_compose : forall m1 m2 alpha r1 r2,
    1 < alpha -> rdp m1 alpha r1 -> rdp m2 alpha r2 -> rdp (Compose m1 m2) alpha (r1 + r2);
  MIR17_times : forall n m alpha r,
    1 < alpha -> rdp m alpha r -> rdp (Times n m) alpha (IZR (Zpos n) * r);
  (* Steinke, Composition of differential privacy and privacy amplification by subsampling (2022),
     tight subsampled RDP: Poisson samples at whole orders, one record added or removed.
     docs/theorems.md proves it too; [FiniteLaws.moment_sample] proves the sum of finite laws. *)
  S22_poisson : forall m gamma n curve,
    0 <= gamma <= 1 -> (2 <= n)%nat ->
    (forall k, (2 <= k <= n)%nat -> rdp m (IZR (Z.of_nat k)) (curve k)) ->
    rdp (PoissonSubsample m gamma) (IZR (Z.of_nat n))
      (ln (sampled_moment n gamma curve) / (IZR (Z.of_nat n) - 1));
  (* Mironov, Talwar and Zhang, Rényi differential privacy of the sampled Gaussian mechanism
     (2019), Theorems 4 and 5: at real orders the sampled pair of two laws that a symmetry swaps
     has the integral below, and the other direction is not larger. *)
  MTZ19_gaussian : forall sigma sensitivity gamma alpha r,
    0 < sigma -> 0 < sensitivity -> 0 <= gamma <= 1 -> 1 < alpha ->
    integral_at_most (sampled_normal (sensitivity / sigma) gamma alpha) (exp ((alpha - 1) * r)) ->
    rdp (PoissonSubsample (Gaussian sigma sensitivity) gamma) alpha r;
  MTZ19_laplace : forall b sensitivity gamma alpha r,
    0 < b -> 0 < sensitivity -> 0 <= gamma <= 1 -> 1 < alpha ->
    integral_at_most (sampled_laplace (sensitivity / b) gamma alpha) (exp ((alpha - 1) * r)) ->
    rdp (PoissonSubsample (Laplace b sensitivity) gamma) alpha r;
  MTZ19_response : forall p gamma alpha r,
    0 < p < 1 -> 0 <= gamma <= 1 -> 1 < alpha ->
    sampled_response p gamma alpha <= exp ((alpha - 1) * r) ->
    rdp (PoissonSubsample (RandomizedResponse p) gamma) alpha r;
  KOV15_sampled_pure : forall epsilon gamma alpha r,
    0 <= epsilon -> 0 <= gamma <= 1 -> 1 < alpha ->
    sampled_response (truth epsilon) gamma alpha <= exp ((alpha - 1) * r) ->
    rdp (PoissonSubsample (PureDP epsilon) gamma) alpha r;
  (* What bounds bounds larger numbers too. *)
  weaken : forall m alpha r r', r <= r' -> rdp m alpha r -> rdp m alpha r';
  (* Canonne, Kamath and Steinke, The discrete Gaussian for differential privacy (2020),
     Proposition 12.  [FiniteLaws] proves it of finite laws. *)
  CKS20_improved : forall m alpha r epsilon delta,
    1 < alpha -> 0 < delta -> rdp m alpha r ->
    r + improved alpha delta <= epsilon -> dp m epsilon delta;
  (* Mironov 2017, Proposition 3.  [FiniteLaws] proves it of finite laws. *)
  MIR17_classic : forall m alpha r epsilon delta,
    1 < alpha -> 0 < delta -> rdp m alpha r ->
    r + classic alpha delta <= epsilon -> dp m epsilon delta
}.
