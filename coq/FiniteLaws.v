(** Rényi differential privacy of finite laws: conversion, composition and Poisson sampling, proved.

    Nothing is assumed here beyond the real numbers of Coq's library.  [Print Assumptions] of each
    theorem lists the axioms of the reals and the excluded middle that they rest on, no others. *)

From Coq Require Import Reals Lra Lia List.
Import ListNotations.
Open Scope R_scope.

(** * Sums over a list of outcomes *)

Fixpoint total {A : Type} (xs : list A) (f : A -> R) : R :=
  match xs with
  | [] => 0
  | x :: rest => f x + total rest f
  end.

Lemma total_ext {A} (xs : list A) f g :
  (forall x, f x = g x) -> total xs f = total xs g.
Proof. intros H; induction xs as [|x xs IH]; simpl; rewrite ?H, ?IH; reflexivity. Qed.

Lemma total_le {A} (xs : list A) f g :
  (forall x, f x <= g x) -> total xs f <= total xs g.
Proof. intros H; induction xs as [|x xs IH]; simpl; [lra | specialize (H x); lra]. Qed.

Lemma total_scal {A} (xs : list A) c f : total xs (fun x => c * f x) = c * total xs f.
Proof. induction xs as [|x xs IH]; simpl; [ring | rewrite IH; ring]. Qed.

Lemma total_plus {A} (xs : list A) f g :
  total xs (fun x => f x + g x) = total xs f + total xs g.
Proof. induction xs as [|x xs IH]; simpl; [ring | rewrite IH; ring]. Qed.

Lemma total_app {A} (xs ys : list A) f : total (xs ++ ys) f = total xs f + total ys f.
Proof. induction xs as [|x xs IH]; simpl; [ring | rewrite IH; ring]. Qed.

Lemma total_map {A B} (g : A -> B) (xs : list A) f :
  total (map g xs) f = total xs (fun x => f (g x)).
Proof. induction xs as [|x xs IH]; simpl; [reflexivity | rewrite IH; reflexivity]. Qed.

Lemma total_flat_map {A B} (g : A -> list B) (xs : list A) f :
  total (flat_map g xs) f = total xs (fun x => total (g x) f).
Proof. induction xs as [|x xs IH]; simpl; [reflexivity | rewrite total_app, IH; reflexivity]. Qed.

(** * Pairs of laws *)

(** What a mechanism answers on two neighbouring datasets: two laws over one finite list of
    outcomes, each of positive probability under both. *)
Record pair (A : Type) := Pair {
  outcomes : list A;
  first : A -> R;
  second : A -> R;
  first_positive : forall x, 0 < first x;
  second_positive : forall x, 0 < second x;
  first_mass : total outcomes first = 1;
  second_mass : total outcomes second = 1
}.
Arguments Pair {A}. Arguments outcomes {A}. Arguments first {A}. Arguments second {A}.
Arguments first_positive {A}. Arguments second_positive {A}. Arguments first_mass {A}.
Arguments second_mass {A}.

(** The two datasets exchanged. *)
Definition swap {A} (d : pair A) : pair A :=
  Pair (outcomes d) (second d) (first d)
    (second_positive d) (first_positive d) (second_mass d) (first_mass d).

(** The probability of a set of outcomes. *)
Definition probability {A} (xs : list A) (law : A -> R) (S : A -> bool) : R :=
  total xs (fun x => if S x then law x else 0).

(** (ε, δ) in one direction: P(S) <= e^ε Q(S) + δ for every set S. *)
Definition protects {A} (d : pair A) (epsilon delta : R) : Prop :=
  forall S, probability (outcomes d) (first d) S
         <= exp epsilon * probability (outcomes d) (second d) S + delta.

(** E_Q[(P/Q)^α] = e^{(α−1) D_α(P‖Q)}. *)
Definition moment {A} (d : pair A) (alpha : R) : R :=
  total (outcomes d) (fun x => second d x * Rpower (first d x / second d x) alpha).

(** The Rényi divergence D_α(P‖Q), in nats. *)
Definition renyi {A} (d : pair A) (alpha : R) : R := ln (moment d alpha) / (alpha - 1).

Lemma exp_positive_power x a : 0 < Rpower x a.
Proof. apply exp_pos. Qed.

Lemma total_positive {A} (xs : list A) f : (forall x, 0 < f x) -> 0 <= total xs f.
Proof. intros H; induction xs as [|x xs IH]; simpl; [lra | specialize (H x); lra]. Qed.

Lemma moment_positive {A} (d : pair A) alpha : 0 < moment d alpha.
Proof.
  assert (H : outcomes d <> []).
  { intro E. pose proof (first_mass d) as M. rewrite E in M. simpl in M. lra. }
  assert (P : forall x, 0 < second d x * Rpower (first d x / second d x) alpha).
  { intro x. apply Rmult_lt_0_compat; [apply second_positive | apply exp_positive_power]. }
  unfold moment. destruct (outcomes d) as [|x rest]; [contradiction|]. simpl.
  pose proof (total_positive rest _ P). specialize (P x). lra.
Qed.

Lemma moment_of_renyi {A} (d : pair A) alpha r :
  1 < alpha -> renyi d alpha <= r -> moment d alpha <= exp ((alpha - 1) * r).
Proof.
  intros Ha H. rewrite <- (exp_ln (moment d alpha)) by apply moment_positive.
  apply (Rmult_le_compat_l (alpha - 1)) in H; [|lra]. unfold renyi in H.
  replace ((alpha - 1) * (ln (moment d alpha) / (alpha - 1)))
    with (ln (moment d alpha)) in H by (field; lra).
  destruct H as [H|H]; [left; now apply exp_increasing | right; now rewrite H].
Qed.

Lemma renyi_of_moment {A} (d : pair A) alpha r :
  1 < alpha -> moment d alpha <= exp ((alpha - 1) * r) -> renyi d alpha <= r.
Proof.
  intros Ha H. unfold renyi. apply (Rmult_le_reg_l (alpha - 1)); [lra|].
  replace ((alpha - 1) * (ln (moment d alpha) / (alpha - 1)))
    with (ln (moment d alpha)) by (field; lra).
  rewrite <- (ln_exp ((alpha - 1) * r)).
  destruct H as [H|H]; [left; apply ln_increasing; [apply moment_positive | exact H]
                       | right; now rewrite H].
Qed.

(** * From Rényi to (ε, δ) *)

Lemma exp_above_line x : 1 + x <= exp x.
Proof.
  destruct (Req_dec x 0) as [->|N]; [rewrite exp_0; lra|].
  left. now apply exp_ineq1.
Qed.

(** Bernoulli's inequality for a real exponent: u^α >= 1 + α(u − 1). *)
Lemma bernoulli u alpha : 0 < u -> 1 <= alpha -> 1 + alpha * (u - 1) <= Rpower u alpha.
Proof.
  intros Hu Ha. unfold Rpower. set (w := ln u).
  assert (Eu : u = exp w) by (unfold w; now rewrite exp_ln).
  (* e^{αw} and e^0 lie above the tangent of exp at w. *)
  assert (H1 : exp w * (1 + (alpha * w - w)) <= exp (alpha * w)).
  { replace (alpha * w) with (w + (alpha * w - w)) at 2 by ring. rewrite exp_plus.
    apply Rmult_le_compat_l; [left; apply exp_pos | apply exp_above_line]. }
  assert (H2 : exp w * (1 - w) <= 1).
  { replace 1 with (exp w * exp (- w)) at 2 by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
    apply Rmult_le_compat_l; [left; apply exp_pos |].
    replace (1 - w) with (1 + - w) by ring. apply exp_above_line. }
  rewrite Eu at 1. nra.
Qed.

(** t − s <= t^α s^{1−α} (α−1)^{α−1} / α^α for t, s > 0: a power that touches the hinge. *)
Lemma hinge t s alpha :
  0 < t -> 0 < s -> 1 < alpha ->
  t - s <= Rpower t alpha
           * exp ((1 - alpha) * ln s + (alpha - 1) * ln (alpha - 1) - alpha * ln alpha).
Proof.
  intros Ht Hs Ha.
  (* Bernoulli at u = t / t0 with t0 = s α / (α − 1), where the power touches. *)
  set (t0 := s * alpha / (alpha - 1)).
  assert (Ht0 : 0 < t0) by (unfold t0; apply Rdiv_lt_0_compat; [nra | lra]).
  assert (B := bernoulli (t / t0) alpha (Rdiv_lt_0_compat _ _ Ht Ht0) (Rlt_le _ _ Ha)).
  assert (L : ln t0 = ln s + ln alpha - ln (alpha - 1)).
  { unfold t0, Rdiv. rewrite ln_mult, ln_mult, ln_Rinv; try nra.
    apply Rinv_0_lt_compat; lra. }
  assert (E : Rpower t alpha
              * exp ((1 - alpha) * ln s + (alpha - 1) * ln (alpha - 1) - alpha * ln alpha)
              = s / (alpha - 1) * Rpower (t / t0) alpha).
  { unfold Rpower, Rdiv at 2.
    rewrite ln_mult, ln_Rinv, L by (try apply Rinv_0_lt_compat; assumption).
    replace (s / (alpha - 1)) with (exp (ln s - ln (alpha - 1))).
    - rewrite <- !exp_plus. f_equal. ring.
    - unfold Rminus. rewrite exp_plus, exp_Ropp, !exp_ln by lra. reflexivity. }
  rewrite E.
  replace (t - s) with (s / (alpha - 1) * (1 + alpha * (t / t0 - 1))).
  - apply Rmult_le_compat_l; [left; apply Rdiv_lt_0_compat; lra | exact B].
  - unfold t0. field. lra.
Qed.

Lemma probability_gap {A} (d : pair A) epsilon S (bound : A -> R) :
  (forall x, 0 <= bound x) ->
  (forall x, first d x - exp epsilon * second d x <= bound x) ->
  probability (outcomes d) (first d) S
  <= exp epsilon * probability (outcomes d) (second d) S + total (outcomes d) bound.
Proof.
  intros H0 H. unfold probability. rewrite <- total_scal, <- total_plus.
  apply total_le. intro x. specialize (H x). specialize (H0 x). destruct (S x); lra.
Qed.

(** What the improved conversion adds to ε(α); Canonne, Kamath and Steinke 2020, Proposition 12. *)
Definition improved (alpha delta : R) : R :=
  ln ((alpha - 1) / alpha) - (ln delta + ln alpha) / (alpha - 1).

(** What the classic conversion adds; Mironov 2017, Proposition 3. *)
Definition classic (alpha delta : R) : R := ln (1 / delta) / (alpha - 1).

Theorem improved_conversion {A} (d : pair A) alpha epsilon delta :
  1 < alpha -> 0 < delta ->
  renyi d alpha + improved alpha delta <= epsilon -> protects d epsilon delta.
Proof.
  intros Ha Hd H S.
  set (c := exp ((1 - alpha) * epsilon + (alpha - 1) * ln (alpha - 1) - alpha * ln alpha)).
  assert (Hc : total (outcomes d)
                 (fun x => c * (second d x * Rpower (first d x / second d x) alpha)) <= delta).
  { rewrite total_scal. change (c * moment d alpha <= delta).
    pose proof (moment_positive d alpha) as M.
    rewrite <- (exp_ln (moment d alpha) M), <- (exp_ln delta Hd).
    unfold c. rewrite <- exp_plus.
    unfold renyi, improved in H.
    assert (L : ln ((alpha - 1) / alpha) = ln (alpha - 1) - ln alpha).
    { unfold Rdiv. rewrite ln_mult, ln_Rinv; try lra. apply Rinv_0_lt_compat; lra. }
    rewrite L in H.
    assert (G : ln (moment d alpha) + (alpha - 1) * (ln (alpha - 1) - ln alpha)
                - (ln delta + ln alpha) <= (alpha - 1) * epsilon).
    { apply (Rmult_le_compat_l (alpha - 1)) in H; [|lra].
      eapply Rle_trans; [|exact H]. right. field. lra. }
    match goal with |- exp ?a <= exp ?b => assert (a <= b) as [K| ->] by lra end;
      [left; now apply exp_increasing | apply Rle_refl]. }
  eapply Rle_trans; [apply (probability_gap d epsilon S
    (fun x => c * (second d x * Rpower (first d x / second d x) alpha)))|].
  - intro x. repeat apply Rmult_le_pos; left;
      first [apply exp_pos | apply second_positive].
  - intro x. pose proof (first_positive d x) as P. pose proof (second_positive d x) as Q.
    pose proof (hinge (first d x / second d x) (exp epsilon) alpha
                  (Rdiv_lt_0_compat _ _ P Q) (exp_pos _) Ha) as T.
    rewrite ln_exp in T. fold c in T.
    apply (Rmult_le_compat_l (second d x)) in T; [|lra].
    replace (second d x * (first d x / second d x - exp epsilon))
      with (first d x - exp epsilon * second d x) in T by (field; lra).
    lra.
  - lra.
Qed.

(** (α−1) ln((α−1)/α) <= ln α, so the classic conversion follows from the improved one. *)
Lemma improved_below_classic alpha delta :
  1 < alpha -> 0 < delta -> improved alpha delta <= classic alpha delta.
Proof.
  intros Ha Hd. unfold improved, classic.
  assert (N : ln ((alpha - 1) / alpha) <= 0).
  { rewrite <- ln_1. left. apply ln_increasing.
    - apply Rdiv_lt_0_compat; lra.
    - apply (Rmult_lt_reg_r alpha); [lra|]. field_simplify; lra. }
  assert (P : 0 <= ln alpha) by (rewrite <- ln_1; left; apply ln_increasing; lra).
  unfold Rdiv at 4. rewrite Rmult_1_l, ln_Rinv by assumption.
  apply (Rmult_le_reg_l (alpha - 1)); [lra|].
  replace ((alpha - 1) * (- ln delta / (alpha - 1))) with (- ln delta) by (field; lra).
  replace ((alpha - 1) * (ln ((alpha - 1) / alpha) - (ln delta + ln alpha) / (alpha - 1)))
    with ((alpha - 1) * ln ((alpha - 1) / alpha) - ln delta - ln alpha) by (field; lra).
  nra.
Qed.

Theorem classic_conversion {A} (d : pair A) alpha epsilon delta :
  1 < alpha -> 0 < delta ->
  renyi d alpha + classic alpha delta <= epsilon -> protects d epsilon delta.
Proof.
  intros Ha Hd H. apply (improved_conversion d alpha); [assumption..|].
  pose proof (improved_below_classic alpha delta Ha Hd). lra.
Qed.

(** * Composition *)

Lemma total_follow {A B} (xs : list A) (ys : A -> list B) f :
  total (flat_map (fun x => map (Coq.Init.Datatypes.pair x) (ys x)) xs) f
  = total xs (fun x => total (ys x) (fun y => f (x, y))).
Proof.
  rewrite total_flat_map. apply total_ext. intro x. now rewrite total_map.
Qed.

(** A second mechanism, chosen by what the first one answered. *)
Section Follow.
Variables A B : Type.
Variable d : pair A.
Variable next : A -> pair B.

Lemma follow_mass (law : A -> R) (laws : A -> B -> R) :
  total (outcomes d) law = 1 -> (forall x, total (outcomes (next x)) (laws x) = 1) ->
  total (flat_map (fun x => map (Coq.Init.Datatypes.pair x) (outcomes (next x))) (outcomes d))
    (fun z => law (fst z) * laws (fst z) (snd z)) = 1.
Proof.
  intros H1 H2. rewrite total_follow. simpl.
  rewrite (total_ext _ _ law); [assumption|].
  intro x. rewrite total_scal, H2. ring.
Qed.

Definition follow : pair (A * B) := Pair
  (flat_map (fun x => map (Coq.Init.Datatypes.pair x) (outcomes (next x))) (outcomes d))
  (fun z => first d (fst z) * first (next (fst z)) (snd z))
  (fun z => second d (fst z) * second (next (fst z)) (snd z))
  (fun z => Rmult_lt_0_compat _ _ (first_positive d _) (first_positive (next _) _))
  (fun z => Rmult_lt_0_compat _ _ (second_positive d _) (second_positive (next _) _))
  (follow_mass _ _ (first_mass d) (fun x => first_mass (next x)))
  (follow_mass _ _ (second_mass d) (fun x => second_mass (next x))).

Lemma moment_of_follow alpha :
  moment follow alpha
  = total (outcomes d) (fun x => second d x * Rpower (first d x / second d x) alpha
                                 * moment (next x) alpha).
Proof.
  unfold moment at 1. simpl. rewrite total_follow. apply total_ext. intro x. simpl.
  unfold moment. rewrite <- total_scal. apply total_ext. intro y.
  pose proof (first_positive d x). pose proof (second_positive d x).
  pose proof (first_positive (next x) y). pose proof (second_positive (next x) y).
  replace (first d x * first (next x) y / (second d x * second (next x) y))
    with (first d x / second d x * (first (next x) y / second (next x) y)) by (field; lra).
  rewrite <- Rpower_mult_distr; [ring | apply Rdiv_lt_0_compat; assumption..].
Qed.

(** Adaptive composition: moments multiply, at most. *)
Theorem moment_follow_le alpha M :
  (forall x, moment (next x) alpha <= M) -> moment follow alpha <= moment d alpha * M.
Proof.
  intro H. rewrite moment_of_follow. unfold moment at 2. rewrite Rmult_comm, <- total_scal.
  apply total_le. intro x. rewrite (Rmult_comm M).
  apply Rmult_le_compat_l; [|apply H].
  apply Rmult_le_pos; left; [apply second_positive | apply exp_positive_power].
Qed.
End Follow.
Arguments follow {A B}.

(** Two mechanisms whose choice depends on nothing. *)
Definition product {A B} (d : pair A) (e : pair B) : pair (A * B) := follow d (fun _ => e).

Theorem moment_product {A B} (d : pair A) (e : pair B) alpha :
  moment (product d e) alpha = moment d alpha * moment e alpha.
Proof.
  unfold product. rewrite moment_of_follow. unfold moment at 2.
  rewrite Rmult_comm, <- total_scal. apply total_ext. intro x. ring.
Qed.

Theorem renyi_product {A B} (d : pair A) (e : pair B) alpha :
  1 < alpha -> renyi (product d e) alpha = renyi d alpha + renyi e alpha.
Proof.
  intro Ha. unfold renyi. rewrite moment_product, ln_mult by apply moment_positive.
  field. lra.
Qed.

(** No mechanism at all. *)
Definition nothing : pair unit.
Proof.
  refine (Pair [tt] (fun _ => 1) (fun _ => 1) _ _ _ _); intros; simpl; lra.
Defined.

(** n runs, each chosen by the answers of those before it. *)
Fixpoint answers (A : Type) (n : nat) : Type :=
  match n with
  | O => unit
  | S m => (A * answers A m)%type
  end.

Fixpoint strategy (A : Type) (n : nat) : Type :=
  match n with
  | O => unit
  | S m => (pair A * (A -> strategy A m))%type
  end.

Fixpoint run {A : Type} {n : nat} : strategy A n -> pair (answers A n) :=
  match n return strategy A n -> pair (answers A n) with
  | O => fun _ => nothing
  | S m => fun s => follow (fst s) (fun x => run (snd s x))
  end.

(** The i-th mechanism is of the i-th kind, whatever was answered before. *)
Fixpoint scheduled {K A : Type} (C : K -> pair A -> Prop) (kinds : list K)
  : strategy A (length kinds) -> Prop :=
  match kinds return strategy A (length kinds) -> Prop with
  | [] => fun _ => True
  | kind :: rest => fun s => C kind (fst s) /\ forall x, scheduled C rest (snd s x)
  end.

Lemma moment_nothing alpha : moment nothing alpha = 1.
Proof.
  unfold moment. simpl. unfold Rdiv. rewrite Rinv_1, Rmult_1_r. unfold Rpower.
  rewrite ln_1, Rmult_0_r, exp_0. ring.
Qed.

(** Adaptive composition: the curves of the runs add. *)
Theorem renyi_run {K A} (C : K -> pair A -> Prop) (bound : K -> R) alpha kinds s :
  1 < alpha -> (forall kind d, In kind kinds -> C kind d -> renyi d alpha <= bound kind) ->
  scheduled C kinds s -> renyi (run s) alpha <= total kinds bound.
Proof.
  intros Ha H S0. apply renyi_of_moment; [exact Ha|].
  induction kinds as [|kind rest IH]; simpl in *.
  - rewrite moment_nothing, Rmult_0_r, exp_0. lra.
  - destruct S0 as [S1 S2].
    eapply Rle_trans; [apply (moment_follow_le _ _ _ _ _ (exp ((alpha - 1) * total rest bound)))|].
    + intro x. apply IH; [|apply S2]. intros k d I. apply H. now right.
    + rewrite Rmult_plus_distr_l, exp_plus.
      apply Rmult_le_compat_r; [left; apply exp_pos|].
      apply moment_of_renyi; [exact Ha|]. apply H; [now left | exact S1].
Qed.

(** * Poisson sampling *)

(** One record added: the first law is that of a sample which holds the record with
    probability γ.  The record removed is the [swap] of it. *)
Section Sample.
Variable A : Type.
Variable gamma : R.
Hypothesis rate : 0 <= gamma <= 1.
Variable d : pair A.

Lemma sample_positive x : 0 < (1 - gamma) * second d x + gamma * first d x.
Proof.
  pose proof (first_positive d x). pose proof (second_positive d x).
  destruct (Rle_lt_dec gamma (1 / 2)); nra.
Qed.

Lemma sample_mass : total (outcomes d) (fun x => (1 - gamma) * second d x + gamma * first d x) = 1.
Proof. rewrite total_plus, !total_scal, first_mass, second_mass. ring. Qed.

Definition sample : pair A := Pair (outcomes d)
  (fun x => (1 - gamma) * second d x + gamma * first d x) (second d)
  sample_positive (second_positive d) sample_mass (second_mass d).

Lemma total_sum (xs : list A) (f : A -> nat -> R) n :
  total xs (fun x => sum_f_R0 (f x) n) = sum_f_R0 (fun k => total xs (fun x => f x k)) n.
Proof.
  induction n as [|n IH]; simpl; [reflexivity|]. rewrite total_plus, IH. reflexivity.
Qed.

(** The exact sum at whole orders: Σ_k C(n,k) (1−γ)^{n−k} γ^k E_Q[(P/Q)^k]. *)
Theorem moment_sample n :
  moment sample (INR n)
  = sum_f_R0 (fun k => C n k * gamma ^ k * (1 - gamma) ^ (n - k) * moment d (INR k)) n.
Proof.
  unfold moment at 1. simpl.
  rewrite (total_ext _ _ (fun x => sum_f_R0 (fun k => C n k * gamma ^ k * (1 - gamma) ^ (n - k)
             * (second d x * Rpower (first d x / second d x) (INR k))) n)).
  - rewrite total_sum. apply sum_eq. intros k _. unfold moment. now rewrite total_scal.
  - intro x. pose proof (first_positive d x) as P. pose proof (second_positive d x) as Q.
    replace (((1 - gamma) * second d x + gamma * first d x) / second d x)
      with (gamma * (first d x / second d x) + (1 - gamma)) by (field; lra).
    rewrite Rpower_pow.
    + rewrite binomial, scal_sum. apply sum_eq. intros k _.
      rewrite Rpower_pow by now apply Rdiv_lt_0_compat. rewrite Rpow_mult_distr. ring.
    + pose proof (sample_positive x) as S.
      replace (gamma * (first d x / second d x) + (1 - gamma))
        with (((1 - gamma) * second d x + gamma * first d x) / second d x) by (field; lra).
      now apply Rdiv_lt_0_compat.
Qed.
End Sample.
Arguments sample {A}.

(** * Randomized response *)

Lemma in_unit_interval p : 0 < p < 1 -> forall x : bool, 0 < (if x then p else 1 - p).
Proof. intros H []; lra. Qed.

Lemma out_of_unit_interval p : 0 < p < 1 -> forall x : bool, 0 < (if x then 1 - p else p).
Proof. intros H []; lra. Qed.

Lemma two_masses a b : a + b = 1 -> a + (b + 0) = 1.
Proof. lra. Qed.

(** The true answer with probability p, the other one with 1 − p. *)
Definition response (p : R) (H : 0 < p < 1) : pair bool := Pair [true; false]
  (fun x => if x then p else 1 - p) (fun x => if x then 1 - p else p)
  (in_unit_interval p H) (out_of_unit_interval p H)
  (two_masses p (1 - p) (Rplus_minus p 1)) (two_masses (1 - p) p ltac:(ring)).
